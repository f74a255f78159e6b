import { useMemo, useRef, useState } from 'preact/hooks'
import { changedWords } from '../../ui/changed-words.ts'
import { type Changes, changeKey, type ReviewedFile } from '../../ui/changes.ts'
import type { ReviewComment } from '../../ui/changes-comments.ts'
import type { ChangeHunk } from '../../ui/changes-hunks.ts'
import { useDraft } from '../parts/drafts.ts'
import { isField } from '../parts/focusable.ts'
import { Icon } from '../parts/icon.tsx'
import type { DiffProperties, PaintedLine } from '../properties.ts'
import { CommentForm, CommentNote } from './comment-form.tsx'
import { type Run, runsOf } from './line-runs.ts'

/** The lines of both texts with their colours. */
export interface PaintedFile {
  /** Returns a line by its number from 0. */
  readonly before: (line: number) => PaintedLine
  readonly after: (line: number) => PaintedLine
}

export interface HunkViewProps extends Pick<DiffProperties, 'drafts'> {
  readonly review: Changes
  readonly file: ReviewedFile
  readonly painted: PaintedFile
  readonly hunk: ChangeHunk
  /** Number of the change, from 1, and of all changes of the file. */
  readonly position: readonly [at: number, count: number]
  /** Lines of context before and after. */
  readonly context: readonly [before: number, after: number]
  readonly isInline: boolean
  readonly isWritable: boolean
  readonly onRevert: () => void
}

/** A line of one or both texts, by its number from 0. */
interface Row {
  readonly before?: number
  readonly after?: number
}

/** Names the place of a change by its first line in the old text. The place stays the same when the file changes again. */
export function placeId({ path }: ReviewedFile, { oldStart }: ChangeHunk): string {
  return `${path} ${oldStart + 1}`
}

/** One change with its actions. Keys work while it has the focus. */
export function HunkView(props: HunkViewProps) {
  const { review, file, hunk, position, isWritable, onRevert } = props
  const [text, setText] = useDraft(props.drafts, `comment on ${placeId(file, hunk)}`)
  // A comment that was being written before a reload does not take the focus.
  const [form, setForm] = useState<'opened' | 'restored' | undefined>(text === '' ? undefined : 'restored')
  const place = useRef<HTMLElement>(null)
  const close = () => {
    setForm(undefined)
    place.current?.focus()
  }
  const { accepted, canComment, comments: all } = review.snapshot
  const isAccepted = accepted.has(changeKey(file, hunk))
  const accept = () => review.accept(file, hunk, !isAccepted)
  const comment = canComment ? () => setForm('opened') : undefined
  const comments = all.filter((one) => one.path === file.path && isAbout(one, hunk))
  const first = hunk.newStart + (hunk.newLines.length === 0 ? 0 : 1)
  const last = hunk.newStart + hunk.newLines.length
  const lines =
    hunk.newLines.length === 0 ? `After line ${first}` : first === last ? `Line ${first}` : `Lines ${first}–${last}`
  return (
    <section
      ref={place}
      class={`change-hunk ${isAccepted ? 'accepted' : ''}`}
      aria-label={`Change ${position[0]} of ${position[1]}, ${lines}${isAccepted ? ', reviewed' : ''}`}
      // N and P focus it, Tab goes to its buttons.
      tabIndex={-1}
      onKeyDown={(event) => {
        if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
        const act = { a: accept, r: isWritable ? onRevert : undefined, c: comment }[event.key.toLowerCase()]
        if (act === undefined) return
        event.preventDefault()
        act()
      }}
    >
      <header class="row">
        <span class="muted small grow number">{lines}</span>
        <button
          type="button"
          class="button quiet"
          aria-pressed={isAccepted}
          title="Mark as reviewed (A)"
          onClick={accept}
        >
          <Icon name="check" /> {isAccepted ? 'Accepted' : 'Accept'}
        </button>
        <button
          type="button"
          class="button quiet"
          title="Take back exactly this change (R)"
          disabled={!isWritable}
          onClick={onRevert}
        >
          <Icon name="undo" /> Revert
        </button>
        {comment !== undefined && (
          <button type="button" class="button quiet" title="Comment for the agent (C)" onClick={comment}>
            <Icon name="chat" /> Comment
          </button>
        )}
      </header>
      <DiffLines {...props} />
      {comments.map((one) => (
        <CommentNote key={one.id} comment={one} onRemove={() => review.removeComment(one.id)} />
      ))}
      {form !== undefined && (
        <CommentForm
          {...{ review, file, hunk, text }}
          takesFocus={form === 'opened'}
          onText={setText}
          onClose={close}
        />
      )}
    </section>
  )
}

function isAbout({ side, from, to }: ReviewComment, { oldStart, oldLines, newStart, newLines }: ChangeHunk): boolean {
  const [start, count] = side === 'before' ? [oldStart, oldLines.length] : [newStart, newLines.length]
  return from <= start + count && to > start
}

/** Rows of a change that are shown at first, and more with each press. */
export const MAX_ROWS = 200
/** Rows that are drawn again together. */
const PART = 100

function DiffLines({ painted, hunk, context, isInline }: HunkViewProps) {
  const [limit, setLimit] = useState(MAX_ROWS)
  const offsets = useMemo(() => changedWords(hunk.oldLines, hunk.newLines), [hunk])
  const all = rowCount(hunk, context, isInline)
  const count = Math.min(all, limit)
  return (
    <>
      {Array.from({ length: Math.ceil(count / PART) }, (_, part) => (
        <DiffTable
          key={part}
          painted={painted}
          hunk={hunk}
          offsets={offsets}
          context={context}
          isInline={isInline}
          from={part * PART}
          to={Math.min(count, (part + 1) * PART)}
        />
      ))}
      {all > count && (
        <button type="button" class="button quiet more-lines" onClick={() => setLimit(limit + MAX_ROWS)}>
          Show {Math.min(MAX_ROWS, all - count)} of {(all - count).toLocaleString('en')} further lines
        </button>
      )}
    </>
  )
}

/** Some rows of a change. They are drawn again only when they change: there can be many. */
function DiffTable(props: Pick<HunkViewProps, 'painted' | 'hunk' | 'context' | 'isInline'> & DiffPart) {
  const { painted, hunk, context, isInline, offsets, from, to } = props
  return useMemo(() => <Rows {...props} />, [painted, hunk, ...context, isInline, offsets, from, to])
}

interface DiffPart {
  readonly offsets: ReturnType<typeof changedWords>
  readonly from: number
  readonly to: number
}

function Rows({
  painted,
  hunk,
  context,
  isInline,
  offsets,
  from,
  to,
}: Pick<HunkViewProps, 'painted' | 'hunk' | 'context' | 'isInline'> & DiffPart) {
  const { oldStart, newStart, oldLines, newLines } = hunk
  const before = (at: number) => runsOf(painted.before(at), offsets[0][at - oldStart])
  const after = (at: number) => runsOf(painted.after(at), offsets[1][at - newStart])
  const isOld = (at: number) => at >= oldStart && at < oldStart + oldLines.length
  const isNew = (at: number) => at >= newStart && at < newStart + newLines.length
  return (
    <table class={`change-lines ${isInline ? 'inline' : 'sides'}`}>
      <tbody>
        {Array.from({ length: to - from }, (_, at) => {
          const { before: old, after: now } = rowAt(hunk, context, isInline, from + at)
          const oldCell =
            old === undefined ? undefined : { number: old + 1, kind: isOld(old) ? 'minus' : '', runs: before(old) }
          const newCell =
            now === undefined ? undefined : { number: now + 1, kind: isNew(now) ? 'plus' : '', runs: after(now) }
          return (
            <tr key={at}>
              {isInline ? (
                <>
                  <LineNumber number={oldCell?.number} kind={oldCell?.kind ?? newCell?.kind} />
                  <LineNumber number={newCell?.number} kind={oldCell?.kind ?? newCell?.kind} />
                  <LineText cell={newCell ?? oldCell} />
                </>
              ) : (
                <>
                  <LineNumber number={oldCell?.number} kind={oldCell?.kind ?? 'none'} />
                  <LineText cell={oldCell} />
                  <LineNumber number={newCell?.number} kind={newCell?.kind ?? 'none'} />
                  <LineText cell={newCell} />
                </>
              )}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

interface Cell {
  readonly number: number
  readonly kind: string
  readonly runs: readonly Run[]
}

function LineNumber({ number, kind = '' }: { readonly number: number | undefined; readonly kind: string | undefined }) {
  return <td class={`line-number ${kind}`}>{number ?? ''}</td>
}

function LineText({ cell }: { readonly cell: Cell | undefined }) {
  if (cell === undefined) return <td class="line-text none" />
  const { kind, runs } = cell
  return (
    <td class={`line-text ${kind}`}>
      <span class="line-sign" aria-hidden="true">
        {kind === 'plus' ? '+' : kind === 'minus' ? '−' : ' '}
      </span>
      {kind !== '' && <span class="visually-hidden">{kind === 'plus' ? 'added: ' : 'removed: '}</span>}
      {runs.map(({ isChanged, segments }, at) => (
        <span key={at} class={isChanged ? 'changed-text' : ''}>
          {segments.map(({ text, kind: colour }, part) => (
            <span key={part} class={colour}>
              {text}
            </span>
          ))}
        </span>
      ))}
    </td>
  )
}

type Context = HunkViewProps['context']

/** Returns the number of rows of a change with its context. */
export function rowCount({ oldLines, newLines }: ChangeHunk, [lead, trail]: Context, isInline: boolean): number {
  const changed = isInline ? oldLines.length + newLines.length : Math.max(oldLines.length, newLines.length)
  return lead + changed + trail
}

/** Returns a row of a change with its context, by its number from 0. */
function rowAt(hunk: ChangeHunk, [lead]: Context, isInline: boolean, row: number): Row {
  const { oldStart, newStart, oldLines, newLines } = hunk
  const at = row - lead
  const changed = rowCount(hunk, [0, 0], isInline)
  if (at < 0) return { before: oldStart + at, after: newStart + at }
  if (at >= changed) {
    const past = at - changed
    return { before: oldStart + oldLines.length + past, after: newStart + newLines.length + past }
  }
  const now = isInline ? at - oldLines.length : at
  return {
    ...(at < oldLines.length && { before: oldStart + at }),
    ...(now >= 0 && now < newLines.length && { after: newStart + now }),
  }
}
