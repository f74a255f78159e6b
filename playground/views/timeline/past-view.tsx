import './history.css'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { FileIcon } from '../../../src/elements/parts/file-icon.tsx'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { type ChangedFile, contentOfChange } from '../../session/changes.ts'
import { failureInWords } from '../../session/failure-words.ts'
import { type PastFiles, pastFiles } from '../../session/past-files.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { textOf } from '../../session/text.ts'
import { announce } from '../../ui/announce.tsx'
import { lazyView } from '../../ui/lazy-view.tsx'
import { useLatest } from '../../ui/use-latest.ts'
import { ChangeDiff } from '../changes/change-diff.tsx'

const CodeText = lazyView(async () => (await import('../editor/code-text.tsx')).CodeText)

export interface PastViewProps {
  readonly projectSession: Pick<ProjectSession, 'session' | 'project' | 'conversation' | 'writable'>
  /** The point of the history that is shown. */
  readonly point: string
  /** Leaves the past: back to now, or after the files were restored. */
  readonly onLeave: () => void
}

/** The files as they were at a point of the history, to read. Nothing is restored until the person asks for it. */
export function PastView({ projectSession, point, onLeave }: PastViewProps) {
  const { session } = projectSession
  const chosen = useSignal<string | undefined>(undefined)
  const compares = useSignal(false)
  session.revision.value
  const past = pastFiles(session.workspace.value.history(), point)
  const file = past?.files.find(({ path }) => path === chosen.value) ?? past?.files[0]

  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isElsewhere = (event.target as Element).closest('dialog, [role="menu"], wardspace-terminal, wardspace-chat')
      if (event.key === 'Escape' && !event.defaultPrevented && isElsewhere === null) onLeave()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  }, [])

  return (
    <section class="fill past-view" aria-label="Files as they were">
      <PastHead projectSession={projectSession} point={point} isSame={file === undefined} onLeave={onLeave} />
      {past?.isComplete === false && <p class="notice warn">Some contents of that time are no longer kept.</p>}
      {past === undefined || file === undefined ? (
        <div class="empty">
          <p>All files are now as they were then.</p>
        </div>
      ) : (
        <div class="past-files">
          <FileList
            files={past.files}
            selected={file}
            onSelect={(path) => {
              chosen.value = path
            }}
          />
          <PastFile
            project={projectSession.project}
            past={past}
            file={file}
            compares={compares.value}
            onCompare={() => {
              compares.value = !compares.value
            }}
          />
        </div>
      )}
    </section>
  )
}

interface PastHeadProps extends PastViewProps {
  /** Whether the present files are the same. */
  readonly isSame: boolean
}

/** Says which moment it is, with the ways out of it. */
function PastHead({ projectSession, point, isSame, onLeave }: PastHeadProps) {
  const { session, conversation, writable } = projectSession
  const trouble = useSignal<string | undefined>(undefined)
  const { label = '', at = 0 } = session.history.value.find(({ id }) => id === point) ?? {}
  const goBack = async () => {
    const result = await session.moveTo(point)
    trouble.value = result.ok ? undefined : failureInWords(result)
    if (!result.ok) return
    announce(`Restored the files: ${label}`)
    onLeave()
  }
  return (
    <>
      <div class="past-head row wrap">
        <Icon name="eye" />
        <p class="grow">
          <strong>Looking at “{label}”</strong>{' '}
          <span class="muted">{new Date(at).toLocaleTimeString()} · read-only, nothing is restored</span>
        </p>
        <button
          id="go-back"
          type="button"
          class="button primary"
          disabled={conversation.isWorking.value || !writable.value || isSame}
          onClick={() => void goBack()}
        >
          <Icon name="undo" /> Go back to here
        </button>
        <button type="button" class="button" onClick={onLeave}>
          Back to now
        </button>
      </div>
      {trouble.value !== undefined && (
        <p class="notice bad" role="alert">
          {trouble.value}
        </p>
      )}
    </>
  )
}

/** What has happened to a file since then, in the words of a person. */
const sinceThen = {
  added: 'not there yet',
  changed: 'changed since then',
  deleted: 'deleted since then',
  renamed: 'renamed since then',
} as const

interface FileListProps {
  readonly files: readonly ChangedFile[]
  readonly selected: ChangedFile
  readonly onSelect: (path: string) => void
}

function FileList({ files, selected, onSelect }: FileListProps) {
  return (
    <nav class="past-list scroll" aria-label="Files that were different">
      {files.map(({ path, from = path, status }) => (
        <button
          key={path}
          type="button"
          class="button quiet"
          aria-current={path === selected.path}
          title={from}
          onClick={() => onSelect(path)}
        >
          <FileIcon path={from} />
          <span class="cut mono">{from}</span>
          <span class="muted small">{sinceThen[status]}</span>
        </button>
      ))}
    </nav>
  )
}

interface PastFileProps {
  readonly project: ProjectSession['project']
  readonly past: PastFiles
  readonly file: ChangedFile
  /** Whether the present content stands beside it. */
  readonly compares: boolean
  readonly onCompare: () => void
}

/** One file as it was. */
function PastFile({ project, past, file, compares, onCompare }: PastFileProps) {
  const { path, from = path, status, version } = file
  const loaded = useSignal<
    { readonly key: string; readonly before?: Uint8Array; readonly after?: Uint8Array } | undefined
  >(undefined)
  const count = useRef(0)
  const key = `${from} ${version}`
  useLatest(
    () => contentOfChange(project, past.since, file),
    ({ before, after }) => {
      count.current += 1
      loaded.value = { key, ...(before && { before }), ...(after && { after }) }
    },
    [key],
  )
  const content = loaded.value?.key === key ? loaded.value : undefined
  const text = content?.before && textOf(content.before)?.text
  return (
    <div class="fill">
      <div class="bar">
        <strong class="mono cut grow">{from}</strong>
        <button type="button" class="button quiet" aria-pressed={compares} onClick={onCompare}>
          Compare with now
        </button>
      </div>
      <div class="fill-rest scroll">
        {content === undefined ? (
          <div class="skeleton" />
        ) : compares ? (
          <ChangeDiff change={{ path: from, status: 'changed', before: content.before, after: content.after }} inline />
        ) : text === undefined ? (
          <div class="empty">
            <p>{status === 'added' ? `${path} was not there yet.` : `${from} was not a text file.`}</p>
          </div>
        ) : (
          <CodeText
            key={from}
            path={from}
            label={`${from} as it was`}
            text={text}
            loaded={count.current}
            readOnly
            wraps
          />
        )}
      </div>
    </div>
  )
}
