import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useMemo, useRef } from 'preact/hooks'
import type { Path } from 'wardspace'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { MenuButton, type MenuItem } from '../../../src/elements/parts/menu.tsx'
import { activeFile, editorOf } from '../../session/editor.ts'
import type { FollowedFile } from '../../session/following.ts'
import type { OpenFile } from '../../session/open-files.ts'
import { previewKindOf } from '../../session/preview-kind.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { textOf } from '../../session/text.ts'
import { linesOf, turned, type Wrapping } from '../../session/wrapping.ts'
import { lazyView } from '../../ui/lazy-view.tsx'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'
import type { CodeTextProps } from './code-text.tsx'

const CodeText = lazyView(async () => (await import('./code-text.tsx')).CodeText)
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
  readonly wraps: Signal<Wrapping>
  readonly onShowChange: (path: string) => void
}

/** The active file. While the agent is followed, its change of that file as a difference. */
export function EditorView({ projectSession, goTo, wraps, onShowChange }: EditorViewProps) {
  const find = useSignal(0)
  const previewed = useSignal<ReadonlySet<string>>(new Set())
  const { files, writable, following, session } = projectSession
  const controller = useMemo(() => editorOf(files, writable, () => session.workspace.value.history()), [files])
  const file = activeFile(files)
  const reading = useReading(projectSession, file)
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
  const target = goTo?.path === file.path ? goTo : undefined
  const isPreviewed = previewed.value.has(file.path) && work === undefined
  const options = { goTo: target, wraps: wraps.value[linesOf(file.path)], find: find.value }
  const content =
    file.theirs === undefined && work?.change === undefined
      ? contentOf({ ...options, projectSession, file, reading, isPreviewed, onOpen })
      : undefined
  return (
    <WardspaceElement
      name="wardspace-editor"
      properties={{
        ...{ controller, ...options, ownText: content !== undefined },
        ...{ lines: work?.lines, change: work?.change },
      }}
    >
      <Work work={work} isWorking={projectSession.conversation.isWorking.value} />
      <FileActions
        projectSession={projectSession}
        file={file}
        isPreviewed={previewed.value.has(file.path)}
        onPreview={(isOn) => preview(file.path, isOn)}
        onShowChange={onShowChange}
      />
      <FileMenu
        path={file.path}
        wraps={wraps}
        onFind={() => {
          preview(file.path, false)
          find.value += 1
        }}
      />
      {content !== undefined && (
        <div slot="text" class="fill" key={file.path}>
          {content}
        </div>
      )}
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

/** What the agent does with the file, or did at last. */
function Work({ work, isWorking }: { readonly work: FollowedFile | undefined; readonly isWorking: boolean }) {
  if (work?.change !== undefined) {
    return (
      <span slot="marks" class="tag changed">
        {isWorking ? 'the agent edits' : 'edited by the agent'}
      </span>
    )
  }
  if (work?.lines === undefined) return null
  const [first, last] = work.lines
  return (
    <span slot="marks" class="tag number">
      {isWorking ? 'the agent reads' : 'the agent read'} {first === last ? `line ${first}` : `lines ${first}–${last}`}
    </span>
  )
}

interface FileActionsProps extends EditorProps, Pick<EditorViewProps, 'onShowChange'> {
  readonly file: OpenFile
  readonly isPreviewed: boolean
  readonly onPreview: (isOn: boolean) => void
}

function FileActions({ projectSession, file, isPreviewed, onPreview, onShowChange }: FileActionsProps) {
  const kind = previewKindOf(file.path)
  const canPreview = kind !== undefined && kind !== 'pdf' && file.base !== undefined
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

interface FileMenuProps extends Pick<EditorViewProps, 'wraps'> {
  readonly path: string
  readonly onFind: () => void
}

function FileMenu({ path, wraps, onFind }: FileMenuProps) {
  const menu: readonly MenuItem[] = [
    { label: 'Find and replace', keys: 'Ctrl F', onSelect: onFind },
    {
      label: 'Wrap long lines',
      keys: 'Alt Z',
      isChecked: wraps.value[linesOf(path)],
      onSelect: () => {
        wraps.value = turned(wraps.value, path)
      },
    },
  ]
  return (
    <span slot="menu">
      <MenuButton icon="dots" label="More for this file" items={menu} />
    </span>
  )
}

/** Whether the person may see a file that no agent may read. */
interface Reading {
  /** Why no agent can read the file. Empty if one can, undefined until that is known. */
  readonly lock: string | undefined
  /** The text of a locked file that the person wants to see. */
  readonly revealed: string | undefined
  readonly reveal: () => Promise<void>
}

function useReading({ session, project }: EditorProps['projectSession'], file: OpenFile | undefined): Reading {
  const path = file?.path
  const asked = useRef<string | undefined>(undefined)
  const lock = useSignal<string | undefined>(undefined)
  const revealed = useSignal<string | undefined>(undefined)
  if (path !== asked.current) {
    asked.current = path
    lock.value = undefined
    revealed.value = undefined
    if (path !== undefined) {
      void session.workspace.value.explain('read_file', { path }).then((read) => {
        if (asked.current !== path) return
        if (!read.ok) lock.value = read.message
        else lock.value = read.verdict.decision === 'deny' ? read.verdict.reason : ''
      })
    }
  }
  return {
    lock: lock.value,
    revealed: revealed.value,
    async reveal() {
      const { bytes } = await project.backend.read(path as Path)
      if (asked.current === path) revealed.value = textOf(bytes)?.text ?? 'This file is not text.'
    },
  }
}

interface ContentProps extends EditorProps, Pick<CodeTextProps, 'goTo' | 'wraps' | 'find'> {
  readonly file: OpenFile
  readonly reading: Reading
  readonly isPreviewed: boolean
  /** Opens a page that the preview links to. */
  readonly onOpen: (path: string) => void
}

/** Returns what is shown in place of the text of a file: a lock, a preview, or parts of a large file. Undefined for the text. */
function contentOf(props: ContentProps): ComponentChildren {
  const { projectSession, file, reading, isPreviewed, onOpen, ...options } = props
  if (reading.lock === undefined) return <div class="skeleton" />
  if (reading.revealed !== undefined) {
    const label = `Text of ${file.path}`
    return <CodeText {...options} path={file.path} label={label} text={reading.revealed} loaded={1} readOnly />
  }
  if (reading.lock !== '' && file.draft === undefined) {
    return (
      <div class="empty">
        <Icon name="lock" />
        <p>{reading.lock}. No tool and no command of the agent can read it.</p>
        <button type="button" class="button" onClick={() => void reading.reveal()}>
          Show the content
        </button>
      </div>
    )
  }
  const kind = previewKindOf(file.path)
  // A PDF may consist of text alone, which nobody wants to read.
  const hasText = kind !== 'pdf' && (file.base !== undefined || file.draft !== undefined)
  if (kind !== undefined && file.sha256 !== undefined && (isPreviewed || !hasText)) {
    return <PreviewView projectSession={projectSession} file={file} kind={kind} onOpen={onOpen} />
  }
  return hasText ? undefined : <PartsView project={projectSession.project} file={file} {...options} />
}
