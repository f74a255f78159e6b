import type { ComponentChild } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type ChangeOutcome, type Changes, isViewed, type ReviewedFile } from '../../ui/changes.ts'
import type { ChangeHunk } from '../../ui/changes-hunks.ts'
import type { ChangedFile } from '../../ui/changes-source.ts'
import { counted } from '../../util/counted.ts'
import { isField } from '../parts/focusable.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { UnifiedDiff } from '../parts/unified-diff.tsx'
import type { DiffProperties, PaintedLine } from '../properties.ts'
import { Count } from './changed-files.tsx'
import { FileWithoutLines } from './file-without-lines.tsx'
import { HunkView, MAX_ROWS, type PaintedFile, placeId, rowCount } from './hunk-view.tsx'

export interface FileReviewProps extends Pick<DiffProperties, 'paint' | 'drafts'> {
  readonly review: Changes
  readonly file: ChangedFile
  readonly isWritable: boolean
  /** Shows the next or the previous file. */
  readonly onFile: (step: 1 | -1) => void
  readonly onOpen: (path: string) => void
  /** Acts on the files; the text says what that comes to. */
  readonly onAct: (text: string, action: Promise<ChangeOutcome>) => void
}

/** Narrower views show differences inline. */
const MIN_SIDES = 800

/** The changes of one file, with what a reviewer does with them. */
export function FileReview({ review, file, paint, drafts, isWritable, onFile, onOpen, onAct: act }: FileReviewProps) {
  const place = useRef<HTMLDivElement>(null)
  const isWide = useIsWide(place)
  const step = (by: 1 | -1) => {
    const hunks = [...(place.current?.querySelectorAll<HTMLElement>('.change-hunk') ?? [])]
    const at = hunks.findIndex((hunk) => hunk.matches(':focus-within'))
    const next = at === -1 && by === -1 ? undefined : hunks[at + by]
    const more = place.current?.querySelector<HTMLElement>('.more-changes')
    if (next !== undefined) next.focus()
    else if (by === -1 || !more) onFile(by)
    else {
      more.click()
      requestAnimationFrame(() => place.current?.querySelectorAll<HTMLElement>('.change-hunk')[at + 1]?.focus())
    }
  }
  const { file: reviewed, layout } = review.snapshot
  const isViewedNow = isViewed(review.snapshot, file)
  return (
    <section
      class="fill file-review"
      aria-label={`Changes of ${file.path}`}
      ref={place}
      onKeyDown={(event) => {
        if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key === 'n' || event.key === 'p') step(event.key === 'n' ? 1 : -1)
        else if (event.key === 'v') review.view(file, !isViewedNow)
        else return
        event.preventDefault()
      }}
    >
      <FileHead
        review={review}
        file={file}
        canRevert={isWritable && reviewed?.text !== undefined}
        onStep={step}
        onOpen={onOpen}
        onRevert={() =>
          reviewed !== undefined && act(`${file.path} is as it was at first`, review.revertFile(reviewed))
        }
      />
      {reviewed?.path === file.path && (
        <FileDiff
          review={review}
          file={reviewed}
          paint={paint}
          drafts={drafts}
          isInline={layout === 'inline' || (layout === 'fit' && !isWide)}
          isWritable={isWritable}
          onRevert={(hunk) => act('The change is taken back', review.revert(reviewed, hunk))}
        />
      )}
    </section>
  )
}

function useIsWide(place: { readonly current: HTMLElement | null }): boolean {
  const [isWide, setWide] = useState(false)
  useLayoutEffect(() => {
    if (place.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => {
      setWide((entry?.contentRect.width ?? 0) >= MIN_SIDES)
    })
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return isWide
}

const kinds = { added: 'new', deleted: 'deleted', modified: 'changed', renamed: 'renamed' } as const

function FileHead({
  review,
  file,
  canRevert,
  onStep,
  onOpen,
  onRevert,
}: Pick<FileReviewProps, 'review' | 'file' | 'onOpen'> & {
  readonly canRevert: boolean
  readonly onStep: (by: 1 | -1) => void
  readonly onRevert: () => void
}) {
  return (
    <div class="bar review-head">
      <h3 class="cut grow" title={file.path}>
        {file.oldPath !== undefined && <span class="muted">{file.oldPath} → </span>}
        {file.path}
      </h3>
      <span class="tag changed">{kinds[file.status]}</span>
      <Count count={file} />
      <label class="row">
        <input
          type="checkbox"
          checked={isViewed(review.snapshot, file)}
          onChange={({ currentTarget }) => review.view(file, currentTarget.checked)}
        />
        Viewed
      </label>
      {file.status !== 'deleted' && (
        <IconButton icon="file" label="Open the file" title="Open the file" onClick={() => onOpen(file.path)} />
      )}
      <button type="button" class="button quiet" disabled={!canRevert} onClick={onRevert}>
        <Icon name="undo" /> Revert file
      </button>
      <span class="row">
        <button
          type="button"
          class="button quiet icon turned"
          aria-label="Previous change"
          title="Previous change (P)"
          onClick={() => onStep(-1)}
        >
          <Icon name="back" />
        </button>
        <button
          type="button"
          class="button quiet icon turned"
          aria-label="Next change"
          title="Next change (N)"
          onClick={() => onStep(1)}
        >
          <Icon name="arrow" />
        </button>
      </span>
    </div>
  )
}

/** Lines around a change. */
const CONTEXT = 3
/** Rows of all changes that are shown at first, and more when the person comes near to their end. */
const PART = 400
/** Rows that the head of a change takes. */
const HEAD = 3

function FileDiff({
  review,
  file,
  paint,
  drafts,
  isInline,
  isWritable,
  onRevert,
}: Pick<FileReviewProps, 'review' | 'paint' | 'drafts' | 'isWritable'> & {
  readonly file: ReviewedFile
  readonly isInline: boolean
  readonly onRevert: (hunk: ChangeHunk) => void
}) {
  const [limit, setLimit] = useState(PART)
  const painted = useMemo(() => paintWith(paint, file), [file, paint])
  const { text, patch, binary, hunks } = file
  if (text === undefined) {
    return binary || patch === undefined ? <FileWithoutLines file={file} /> : <UnifiedDiff text={patch} />
  }
  if (hunks.length === 0) {
    return (
      <div class="empty">
        <p>{file.status === 'renamed' ? 'The content is the same.' : 'The file is empty.'}</p>
      </div>
    )
  }
  const shown: ComponentChild[] = []
  let left = limit
  let end = 0
  for (const [at, hunk] of hunks.entries()) {
    if (left <= 0) break
    const gap = hunk.newStart - end
    const lead = at === 0 ? Math.min(CONTEXT, gap) : Math.min(CONTEXT, Math.max(0, gap - CONTEXT))
    end = hunk.newStart + hunk.newLines.length
    const next = hunks[at + 1]?.newStart ?? file.lines.after.length
    const trail = Math.min(CONTEXT, Math.max(0, next - end))
    const hidden = gap - lead - (at === 0 ? 0 : Math.min(CONTEXT, gap))
    left -= HEAD + Math.min(MAX_ROWS, rowCount(hunk, [lead, trail], isInline))
    shown.push(
      <div key={placeId(file, hunk)}>
        {hidden > 0 && <p class="muted small hidden-lines">{counted(hidden, 'unchanged line')}</p>}
        <HunkView
          review={review}
          file={file}
          painted={painted}
          drafts={drafts}
          hunk={hunk}
          position={[at + 1, hunks.length]}
          context={[lead, trail]}
          isInline={isInline}
          isWritable={isWritable}
          onRevert={() => onRevert(hunk)}
        />
      </div>,
    )
  }
  const rest = hunks.length - shown.length
  return (
    <div class="fill-rest scroll change-hunks">
      {shown}
      {rest > 0 && <MoreChanges key={limit} rest={rest} onMore={() => setLimit(limit + PART)} />}
    </div>
  )
}

/** A button that shows more changes. It presses itself when it comes near to what is visible. */
function MoreChanges({ rest, onMore }: { readonly rest: number; readonly onMore: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  useLayoutEffect(() => {
    if (button.current === null) return undefined
    const root = button.current.parentElement
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && onMore(), {
      root,
      rootMargin: '400px',
    })
    observer.observe(button.current)
    return () => observer.disconnect()
  }, [])
  return (
    <button ref={button} type="button" class="button more-changes" onClick={onMore}>
      {rest === 1 ? 'Show 1 more change' : `Show more of ${rest.toLocaleString('en')} further changes`}
    </button>
  )
}

function paintWith(paint: FileReviewProps['paint'], file: ReviewedFile): PaintedFile {
  const { path, oldPath = path, text, lines } = file
  const painted = (name: string, side: 'before' | 'after') => {
    const coloured = paint?.(name, text?.[side] ?? '')
    return (line: number): PaintedLine =>
      coloured?.[line] ?? [{ text: (lines[side][line] ?? '').replace(/\r?\n$/, ''), kind: '' }]
  }
  return { before: painted(oldPath, 'before'), after: painted(path, 'after') }
}
