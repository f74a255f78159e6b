import { type Signal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { MenuButton, type MenuItem } from '../../../src/elements/parts/menu.tsx'
import { activeFile, editorOf } from '../../session/editor.ts'
import type { FollowedFile } from '../../session/following.ts'
import type { OpenFile } from '../../session/open-files.ts'
import { previewKindOf } from '../../session/preview-kind.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { textOf } from '../../session/text.ts'
import { lazyView } from '../../ui/lazy-view.tsx'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'

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
  const { files, writable, following } = projectSession
  const controller = useMemo(() => editorOf(files, writable), [files])
  const file = activeFile(files)
  if (file === undefined) {
    return (
      <WardspaceElement name="wardspace-editor" properties={{ controller }}>
        <NoFile projectSession={projectSession} />
      </WardspaceElement>
    )
  }
  const followed = following.isOn.value ? following.file.value : undefined
  const isOwn = file.draft !== undefined || file.theirs !== undefined
  const work = followed?.path === file.path && !isOwn ? followed : undefined
  const preview = (path: string, isOn: boolean) => {
    const others = [...previewed.value].filter((one) => one !== path)
    previewed.value = new Set(isOn ? [...others, path] : others)
  }
  const onOpen = (path: string) => {
    preview(path, true)
    void files.open(path)
  }
  return (
    <WardspaceElement name="wardspace-editor" properties={{ controller, ownText: true }}>
      <Work work={work} />
      <FileActions
        projectSession={projectSession}
        file={file}
        isPreviewed={previewed.value.has(file.path)}
        onPreview={(isOn) => preview(file.path, isOn)}
        onShowChange={onShowChange}
      />
      <FileMenu
        wraps={wraps}
        onFind={() => {
          preview(file.path, false)
          find.value += 1
        }}
      />
      <div slot="text" class="fill">
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
    </WardspaceElement>
  )
}

type EditorProps = Pick<EditorViewProps, 'projectSession'>

/** Shown while no file is open: lists the drafts whose tabs were closed. */
function NoFile({ projectSession }: EditorProps) {
  const { all } = projectSession.files
  return (
    <div slot="empty" class="empty">
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

/** What the agent does with the file now. */
function Work({ work }: { readonly work: FollowedFile | undefined }) {
  if (work?.change !== undefined) {
    return (
      <span slot="marks" class="tag changed">
        the agent edits
      </span>
    )
  }
  if (work?.lines === undefined) return null
  const [first, last] = work.lines
  return (
    <span slot="marks" class="tag number">
      the agent reads {first === last ? `line ${first}` : `lines ${first}–${last}`}
    </span>
  )
}

interface FileActionsProps extends EditorProps, Pick<EditorViewProps, 'onShowChange'> {
  readonly file: OpenFile
  readonly isPreviewed: boolean
  readonly onPreview: (isOn: boolean) => void
}

function FileActions({ projectSession, file, isPreviewed, onPreview, onShowChange }: FileActionsProps) {
  const canPreview = previewKindOf(file.path) !== undefined && file.base !== undefined
  return (
    <>
      {projectSession.changed.value.has(file.path) && (
        <button slot="actions" type="button" class="button quiet" onClick={() => onShowChange(file.path)}>
          Show changes
        </button>
      )}
      {canPreview && (
        <button
          slot="actions"
          type="button"
          class="button quiet"
          aria-pressed={isPreviewed}
          onClick={() => onPreview(!isPreviewed)}
        >
          Preview
        </button>
      )}
    </>
  )
}

function FileMenu({ wraps, onFind }: Pick<EditorViewProps, 'wraps'> & { readonly onFind: () => void }) {
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
    <span slot="menu">
      <MenuButton icon="dots" label="More for this file" items={menu} />
    </span>
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

/** Both texts of a file that changed while it was edited. The person's can be changed further. */
function Conflict({ projectSession, file }: EditorProps & { readonly file: OpenFile }) {
  return (
    <div class="fill">
      <p class="bar muted">
        The left side is the current file{file.theirs?.sha256 === undefined ? ' (empty, since it was deleted)' : ''},
        the right side is your text.
      </p>
      <div class="fill-rest">
        <DiffEditor
          path={file.path}
          before={file.theirs?.text?.text ?? ''}
          after={file.draft ?? ''}
          inline={false}
          labels={['Current file', 'Your text']}
          onEdit={(text) => projectSession.files.edit(file.path, text)}
        />
      </div>
    </div>
  )
}
