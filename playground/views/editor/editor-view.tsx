import { type Signal, useSignal } from '@preact/signals'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { MenuButton, type MenuItem } from '../../../src/elements/parts/menu.tsx'
import type { FollowedFile } from '../../session/following.ts'
import type { OpenFile } from '../../session/open-files.ts'
import { previewKindOf } from '../../session/preview-kind.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { textOf } from '../../session/text.ts'
import { lazyView } from '../../ui/lazy-view.tsx'

const CodeEditor = lazyView(async () => (await import('./code-editor.tsx')).default)
const DiffEditor = lazyView(async () => (await import('./diff-editor.tsx')).default)
const PreviewView = lazyView(async () => (await import('./preview-view.tsx')).default)
const PartsView = lazyView(async () => (await import('./parts-view.tsx')).default)

export interface EditorViewProps {
  readonly projectSession: Pick<
    ProjectSession,
    'files' | 'changed' | 'following' | 'session' | 'project' | 'writable' | 'conversation'
  >
  /** The line to go to. */
  readonly goTo: { readonly path: string; readonly line: number; readonly at: number } | undefined
  /** Whether long lines wrap. */
  readonly wraps: Signal<boolean>
  readonly onShowChange: (path: string) => void
}

/** The active file. While the agent is followed, its change of that file as a difference. */
export function EditorView({ projectSession, goTo, wraps, onShowChange }: EditorViewProps) {
  const find = useSignal(0)
  const previewed = useSignal<ReadonlySet<string>>(new Set())
  const { all, active } = projectSession.files
  const file = all.value.find(({ path, isOpen }) => isOpen && path === active.value)
  if (file === undefined) return <NoFile projectSession={projectSession} />
  const { following } = projectSession
  const followed = following.isOn.value ? following.file.value : undefined
  const isOwn = file.draft !== undefined || file.theirs !== undefined
  const work = followed?.path === file.path && !isOwn ? followed : undefined
  const preview = (path: string, isOn: boolean) => {
    const others = [...previewed.value].filter((one) => one !== path)
    previewed.value = new Set(isOn ? [...others, path] : others)
  }
  const onOpen = (path: string) => {
    preview(path, true)
    void projectSession.files.open(path)
  }
  return (
    <div class="fill">
      <FileBar
        projectSession={projectSession}
        file={file}
        work={work}
        wraps={wraps}
        isPreviewed={previewed.value.has(file.path)}
        onPreview={(isOn) => preview(file.path, isOn)}
        onFind={() => {
          preview(file.path, false)
          find.value += 1
        }}
        onShowChange={onShowChange}
      />
      <div class="fill-rest">
        {file.theirs !== undefined ? (
          <Conflict projectSession={projectSession} file={file} key={file.path} />
        ) : work?.change !== undefined ? (
          <DiffEditor
            path={file.path}
            before={work.change.before}
            after={work.change.after}
            inline
            labels={['Before the edit', 'After the edit']}
            key={`${file.path} ${work.change.before.length}`}
          />
        ) : (
          <FileText
            projectSession={projectSession}
            file={file}
            goTo={goTo?.path === file.path ? goTo : undefined}
            lines={work?.lines}
            wraps={wraps.value}
            find={find.value}
            isPreviewed={previewed.value.has(file.path) && work === undefined}
            onOpen={onOpen}
            key={file.path}
          />
        )}
      </div>
    </div>
  )
}

type EditorProps = Pick<EditorViewProps, 'projectSession'>

/** Shown while no file is open: lists the drafts whose tabs were closed. */
function NoFile({ projectSession }: EditorProps) {
  const { all } = projectSession.files
  return (
    <div class="empty">
      {all.value.length > 0 && (
        <section class="stack" aria-label="Drafts">
          <p>{all.value.length === 1 ? 'One draft is' : `${all.value.length} drafts are`} not saved yet:</p>
          {all.value.map(({ path }) => (
            <button key={path} type="button" class="button" onClick={() => void projectSession.files.open(path)}>
              <span class="mono">{path}</span>
            </button>
          ))}
        </section>
      )}
      <p>Choose a file, or let the agent work. What it reads and changes appears here.</p>
      <p>
        <kbd>Ctrl</kbd> <kbd>P</kbd> opens a file by its name, <kbd>F1</kbd> lists all keys.
      </p>
    </div>
  )
}

interface FileBarProps extends EditorProps, Pick<EditorViewProps, 'wraps' | 'onShowChange'> {
  readonly file: OpenFile
  readonly work: FollowedFile | undefined
  readonly isPreviewed: boolean
  readonly onPreview: (isOn: boolean) => void
  readonly onFind: () => void
}

function FileBar(props: FileBarProps) {
  const { projectSession, file, work, wraps, isPreviewed, onPreview, onFind, onShowChange } = props
  const canPreview = previewKindOf(file.path) !== undefined && file.base !== undefined
  const isDirty = file.draft !== undefined
  const menu: readonly MenuItem[] = [
    { label: 'Find and replace', keys: 'Ctrl F', onSelect: onFind },
    {
      label: 'Wrap long lines',
      keys: 'Alt Z',
      isChecked: wraps.value,
      onSelect: () => {
        wraps.value = !wraps.value
      },
    },
  ]
  return (
    <div class="bar">
      <span class="mono cut grow" title={file.path}>
        {file.path}
      </span>
      {file.trouble !== undefined && (
        <span class="tag bad cut" role="alert" title={file.trouble}>
          {file.trouble}
        </span>
      )}
      {work?.change !== undefined && <span class="tag changed">the agent edits</span>}
      {work?.lines !== undefined && (
        <span class="tag number">
          the agent reads{' '}
          {work.lines[0] === work.lines[1] ? `line ${work.lines[0]}` : `lines ${work.lines[0]}–${work.lines[1]}`}
        </span>
      )}
      {isDirty && <span class="tag warn">draft, not saved</span>}
      {projectSession.changed.value.has(file.path) && (
        <button type="button" class="button quiet" onClick={() => onShowChange(file.path)}>
          Show changes
        </button>
      )}
      {canPreview && (
        <button type="button" class="button quiet" aria-pressed={isPreviewed} onClick={() => onPreview(!isPreviewed)}>
          Preview
        </button>
      )}
      <button
        type="button"
        class="button quiet"
        disabled={!isDirty}
        onClick={() => void projectSession.files.revert(file.path)}
      >
        Revert
      </button>
      <button
        type="button"
        class="button"
        disabled={!isDirty}
        onClick={() => void projectSession.files.save(file.path)}
      >
        Save
      </button>
      <MenuButton icon="dots" label="More for this file" items={menu} />
    </div>
  )
}

interface FileTextProps extends EditorProps {
  readonly file: OpenFile
  readonly goTo: EditorViewProps['goTo']
  readonly lines: FollowedFile['lines']
  readonly wraps: boolean
  readonly find: number
  readonly isPreviewed: boolean
  /** Opens a page that the preview links to. */
  readonly onOpen: (path: string) => void
}

function FileText(props: FileTextProps) {
  const { projectSession, file, goTo, lines, wraps, find } = props
  const revealed = useSignal<string | undefined>(undefined)
  const lock = useSignal<string | undefined>(undefined)
  const isRequested = useSignal(false)
  if (!isRequested.value) {
    isRequested.value = true
    void projectSession.session.workspace.value.explain('read_file', { path: file.path }).then((read) => {
      if (!read.ok) lock.value = read.message
      else if (read.verdict.decision === 'deny') lock.value = read.verdict.reason
      else lock.value = ''
    })
  }
  if (lock.value === undefined) return <div class="skeleton" />
  if (lock.value !== '' && revealed.value === undefined && file.draft === undefined) {
    return (
      <div class="empty">
        <Icon name="lock" />
        <p>{lock.value}. No tool and no command of the agent can read it.</p>
        <button
          type="button"
          class="button"
          onClick={async () => {
            const { bytes } = await projectSession.project.backend.read(file.path as never)
            revealed.value = textOf(bytes)?.text ?? 'This file is not text.'
          }}
        >
          Show the content
        </button>
      </div>
    )
  }
  const hasText = file.base !== undefined || file.draft !== undefined
  const kind = previewKindOf(file.path)
  if (kind !== undefined && file.sha256 !== undefined && (props.isPreviewed || !hasText)) {
    return <PreviewView projectSession={projectSession} file={file} kind={kind} onOpen={props.onOpen} />
  }
  if (!hasText && revealed.value === undefined) {
    return <PartsView project={projectSession.project} file={file} goTo={goTo} wraps={wraps} find={find} />
  }
  return (
    <CodeEditor
      path={file.path}
      label={`Text of ${file.path}`}
      text={revealed.value ?? file.draft ?? file.base?.text ?? ''}
      lineEnd={file.base?.lineEnd ?? '\n'}
      loaded={file.loaded}
      readOnly={revealed.value !== undefined || !projectSession.writable.value}
      onEdit={(text) => projectSession.files.edit(file.path, text)}
      onSave={() => void projectSession.files.save(file.path)}
      goTo={goTo}
      lines={lines}
      wraps={wraps}
      find={find}
    />
  )
}

/** Resolves a file that changed while it was edited: shows both versions and saves the right side. */
function Conflict({ projectSession, file }: EditorProps & { readonly file: OpenFile }) {
  const mine = file.draft ?? ''
  const result = useSignal(mine)
  const theirs = file.theirs?.text?.text
  const settle = (text: string) => void projectSession.files.settle(file.path, text)
  return (
    <div class="fill">
      <div class="notice warn conflict" role="alert">
        <p>
          <strong>{file.path} has changed since you opened it.</strong> The left side shows the current file
          {file.theirs?.sha256 === undefined ? ' (empty, since it was deleted)' : ''}, the right side your text. Nothing
          is written before you choose.
        </p>
        <div class="row wrap">
          <button type="button" class="button primary" onClick={() => settle(result.value)}>
            Save the right side
          </button>
          <button type="button" class="button" onClick={() => void projectSession.files.revert(file.path)}>
            Discard my text
          </button>
        </div>
      </div>
      <div class="fill-rest">
        <DiffEditor
          path={file.path}
          before={theirs ?? ''}
          after={mine}
          inline={false}
          labels={['Current file', 'Your text']}
          onEdit={(text) => {
            result.value = text
            projectSession.files.edit(file.path, text)
          }}
        />
      </div>
    </div>
  )
}
