import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { FileIcon } from '../../../src/elements/parts/file-icon.tsx'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { isTouch } from '../../../src/elements/parts/touch.ts'
import { VirtualList } from '../../../src/elements/parts/virtual-list.tsx'
import type { ProjectSession } from '../../session/project-session.ts'
import type { ReplaceableFile, ReplaceableMatch, Replacement } from '../../session/replacement.ts'
import type { SearchQuery } from '../../session/search.ts'

export interface ReplaceViewProps {
  readonly projectSession: Pick<ProjectSession, 'replacement' | 'session' | 'texts' | 'writable'>
  readonly query: SearchQuery
  readonly onOpen: (path: string, line?: number) => void
}

/** Milliseconds to wait for the next key before searching. */
const PAUSE = 150

/** Characters shown before a match. */
const MAX_BEFORE = 14

/** A row of the preview: a file, or one of its matches. */
type Row = { readonly file: ReplaceableFile; readonly match: ReplaceableMatch | undefined; readonly at: number }

/** Replaces in all files, with a preview in which each match can be left out. */
export function ReplaceView(props: ReplaceViewProps) {
  const replacement = useSignal<Replacement | undefined>(undefined)
  useEffect(() => {
    void props.projectSession.replacement().then((loaded) => {
      replacement.value = loaded
    })
  }, [])
  return replacement.value === undefined ? (
    <div class="skeleton" />
  ) : (
    <Preview {...props} replacement={replacement.value} />
  )
}

function Preview(props: ReplaceViewProps & { readonly replacement: Replacement }) {
  const { projectSession, query, onOpen, replacement } = props
  const { files } = replacement.state.value
  const text = projectSession.texts.of('replacement')
  const active = useSignal(-1)
  const revision = projectSession.session.revision.value
  useEffect(() => {
    const timer = setTimeout(() => void replacement.find(query), PAUSE)
    return () => clearTimeout(timer)
  }, [query.text, query.regex, query.caseSensitive, revision])
  const rows: readonly Row[] = files.flatMap((file) => [
    { file, match: undefined, at: -1 },
    ...file.matches.map((match, at) => ({ file, match, at })),
  ])
  const toggle = ({ file, match, at }: Row) => replacement.toggle(file.path, match === undefined ? undefined : at)
  return (
    <>
      <ReplaceForm
        replacement={replacement}
        text={text.value}
        canReplace={projectSession.writable.value}
        onText={(entered) => {
          text.value = entered
        }}
      />
      <VirtualList
        label="Matches to replace"
        name="replace"
        count={rows.length}
        rowHeight={isTouch() ? 44 : 28}
        active={active.value}
        onActive={(at) => {
          active.value = at
        }}
        onOpen={(at) => {
          const row = rows[at]
          if (row !== undefined) onOpen(row.file.path, row.match?.line)
        }}
        onKey={(event, at) => {
          const row = rows[at]
          if (event.key !== ' ' || row === undefined) return false
          toggle(row)
          return true
        }}
        attributes={(at) => {
          const row = rows[at]
          return { 'aria-checked': row !== undefined && isTaken(row) }
        }}
        row={(at) => {
          const row = rows[at]
          return row === undefined ? null : <PreviewRow row={row} text={text.value} onToggle={() => toggle(row)} />
        }}
      />
    </>
  )
}

/** The end of the text before a match, from the begin of a word. */
function lastWords(text: string): string {
  return text.length <= MAX_BEFORE ? text : `…${text.slice(-MAX_BEFORE).replace(/^\w+(?=\W)/, '')}`
}

function isTaken({ file, match }: Row): boolean {
  if (file.hasDraft) return false
  return match === undefined ? file.matches.some(({ isLeftOut }) => !isLeftOut) : !match.isLeftOut
}

interface ReplaceFormProps {
  readonly replacement: Replacement
  readonly text: string
  readonly canReplace: boolean
  readonly onText: (text: string) => void
}

function ReplaceForm({ replacement, text, canReplace, onText }: ReplaceFormProps) {
  const { files, isBusy, isCut, trouble, done } = replacement.state.value
  const counts = files.map(({ matches, hasDraft }) => (hasDraft ? 0 : matches.filter((one) => !one.isLeftOut).length))
  const count = counts.reduce((sum, one) => sum + one, 0)
  const inFiles = counts.filter((one) => one > 0).length
  return (
    <form
      class="search-field"
      onSubmit={(event) => {
        event.preventDefault()
        if (canReplace && count > 0) void replacement.apply(text)
      }}
    >
      <input
        class="field"
        aria-label="Replace with"
        placeholder="Replace with"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
      />
      <button type="submit" class="button primary" disabled={!canReplace || count === 0 || isBusy}>
        {count === 0
          ? 'Replace'
          : `Replace ${count} ${count === 1 ? 'match' : 'matches'} in ${inFiles} ${inFiles === 1 ? 'file' : 'files'}`}
      </button>
      <span class={trouble === undefined ? 'muted' : 'trouble'} role="status">
        {trouble ?? (isCut ? 'These are the first matches. Replace them to see more.' : isBusy ? 'Searching…' : '')}
      </span>
      {done !== undefined && (
        <div class="row" role="status">
          <span class="grow">{done.text}</span>
          {done.callId !== undefined && (
            <button type="button" class="button quiet" onClick={() => void replacement.undo()}>
              Undo
            </button>
          )}
        </div>
      )}
    </form>
  )
}

interface PreviewRowProps {
  readonly row: Row
  readonly text: string
  readonly onToggle: () => void
}

function PreviewRow({ row, text, onToggle }: PreviewRowProps) {
  const { file, match } = row
  const name = file.path.slice(file.path.lastIndexOf('/') + 1)
  return (
    <>
      {match !== undefined && <span class="replace-indent" />}
      <span
        class={`replace-box ${isTaken(row) ? 'taken' : ''}`}
        aria-hidden="true"
        onClick={(event) => {
          event.stopPropagation()
          if (!file.hasDraft) onToggle()
        }}
      >
        {isTaken(row) && <Icon name="check" size={12} />}
      </span>
      {match === undefined ? (
        <>
          <FileIcon path={file.path} />
          <span>{name}</span>
          <span class="muted cut grow">{file.path.slice(0, Math.max(0, file.path.length - name.length - 1))}</span>
          {file.hasDraft && <span class="tag warn">has a draft</span>}
          <span class="muted number">{file.matches.length}</span>
        </>
      ) : (
        <span class="mono cut grow">
          <span class="visually-hidden">Line {match.line}: </span>
          <span class="muted">{lastWords(match.before)}</span>
          <del>{match.text}</del>
          {isTaken(row) && text !== '' && <ins>{text}</ins>}
          <span class="muted">{match.after}</span>
        </span>
      )}
    </>
  )
}
