import { useSignal } from '@preact/signals'
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { isField } from '../../../src/elements/parts/focusable.ts'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import type { ChangedFile } from '../../session/changes.ts'
import { type ChangeHunk, countLines } from '../../session/changes-hunks.ts'
import type { ChangesReview, Outcome, ReviewedFile } from '../../session/changes-review.ts'
import { useLatest } from '../../ui/use-latest.ts'
import { Count } from './changed-files.tsx'
import { HunkView } from './hunk-view.tsx'
import { paintLines } from './paint.ts'

export interface FileReviewProps {
  readonly review: ChangesReview
  readonly file: ChangedFile
  /** Counts changes of the files. */
  readonly revision: number
  readonly isWritable: boolean
  /** Shows the next or the previous file. */
  readonly onFile: (step: 1 | -1) => void
  /** Acts on the files; the text says what that comes to. */
  readonly onAct: (text: string, action: Promise<Outcome>) => void
}

/** Narrower views show differences inline. */
const MIN_SIDES = 800

/** The changes of one file, with what a reviewer does with them. */
export function FileReview({ review, file, revision, isWritable, onFile, onAct: act }: FileReviewProps) {
  const loaded = useSignal<ReviewedFile | undefined>(undefined)
  const place = useRef<HTMLDivElement>(null)
  const isWide = useIsWide(place)
  useLatest(
    () => review.load(file.path),
    (reviewed) => {
      loaded.value = reviewed
    },
    [file.path, file.version, revision],
  )
  const step = (by: 1 | -1) => {
    const hunks = [...(place.current?.querySelectorAll<HTMLElement>('.change-hunk') ?? [])]
    const at = hunks.findIndex((hunk) => hunk.contains(document.activeElement))
    const next = at === -1 && by === -1 ? undefined : hunks[at + by]
    if (next === undefined) onFile(by)
    else next.focus()
  }
  const reviewed = loaded.value
  const layout = review.layout.value
  return (
    <section
      class="fill file-review"
      aria-label={`Changes of ${file.path}`}
      ref={place}
      onKeyDown={(event) => {
        if (isField(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key === 'n' || event.key === 'p') step(event.key === 'n' ? 1 : -1)
        else if (event.key === 'v') review.view(file, !review.isViewed(file))
        else return
        event.preventDefault()
      }}
    >
      <FileHead
        review={review}
        file={file}
        reviewed={reviewed}
        isWritable={isWritable}
        onStep={step}
        onRevert={() =>
          reviewed !== undefined && act(`${file.path} is as it was at first`, review.revertFile(reviewed))
        }
      />
      {reviewed?.path === file.path && (
        <FileDiff
          review={review}
          file={reviewed}
          isInline={layout === 'inline' || (layout === 'fit' && !isWide)}
          isWritable={isWritable}
          onRevert={(hunk) => act('The change is taken back', review.revert(reviewed, hunk))}
        />
      )}
    </section>
  )
}

function useIsWide(place: { readonly current: HTMLElement | null }): boolean {
  const isWide = useSignal(false)
  useLayoutEffect(() => {
    if (place.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => {
      isWide.value = (entry?.contentRect.width ?? 0) >= MIN_SIDES
    })
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return isWide.value
}

const kinds = { added: 'new', deleted: 'deleted', changed: 'changed', renamed: 'renamed' } as const

function FileHead({
  review,
  file,
  reviewed,
  isWritable,
  onStep,
  onRevert,
}: Pick<FileReviewProps, 'review' | 'file' | 'isWritable'> & {
  readonly reviewed: ReviewedFile | undefined
  readonly onStep: (by: 1 | -1) => void
  readonly onRevert: () => void
}) {
  return (
    <div class="bar review-head">
      <h3 class="cut" title={file.path}>
        {file.from !== undefined && <span class="muted">{file.from} → </span>}
        {file.path}
      </h3>
      <span class="tag changed">{kinds[file.status]}</span>
      {reviewed?.text !== undefined && <Count count={countLines(reviewed.text.hunks)} />}
      <span class="grow" />
      <label class="row">
        <input
          type="checkbox"
          checked={review.isViewed(file)}
          onChange={({ currentTarget }) => review.view(file, currentTarget.checked)}
        />
        Viewed
      </label>
      <button
        type="button"
        class="button quiet"
        disabled={!isWritable || reviewed?.text === undefined}
        onClick={onRevert}
      >
        <Icon name="undo" /> Revert file
      </button>
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
    </div>
  )
}

/** Lines around a change. */
const CONTEXT = 3
/** Lines that are shown at first, and more with each press. */
const PART = 600

function FileDiff({
  review,
  file,
  isInline,
  isWritable,
  onRevert,
}: {
  readonly review: ChangesReview
  readonly file: ReviewedFile
  readonly isInline: boolean
  readonly isWritable: boolean
  readonly onRevert: (hunk: ChangeHunk) => void
}) {
  const limit = useSignal(PART)
  const painted = useMemo(
    () => ({
      before: paintLines(file.from ?? file.path, file.text?.before ?? ''),
      after: paintLines(file.path, file.text?.after ?? ''),
    }),
    [file],
  )
  if (file.text === undefined) return <BinaryFile file={file} />
  const { hunks } = file.text
  if (hunks.length === 0) {
    const text = file.status === 'renamed' ? 'The content is the same.' : 'The file is empty.'
    return (
      <div class="empty">
        <p>{text}</p>
      </div>
    )
  }
  let left = limit.value
  let end = 0
  const total = hunks.reduce((sum, { oldLines, newLines }) => sum + oldLines.length + newLines.length, 0)
  return (
    <div class="fill-rest scroll change-hunks">
      {hunks.map((hunk, at) => {
        const gap = hunk.newStart - end
        const lead = at === 0 ? Math.min(CONTEXT, gap) : Math.min(CONTEXT, Math.max(0, gap - CONTEXT))
        end = hunk.newStart + hunk.newLines.length
        const next = hunks[at + 1]?.newStart ?? painted.after.length
        const trail = Math.min(CONTEXT, Math.max(0, next - end))
        const hidden = gap - lead - (at === 0 ? 0 : Math.min(CONTEXT, gap))
        if (left <= 0) return null
        const shown = left
        left -= hunk.oldLines.length + hunk.newLines.length
        return (
          <div key={hunk.id}>
            {hidden > 0 && (
              <p class="muted small hidden-lines">{hidden === 1 ? '1 unchanged line' : `${hidden} unchanged lines`}</p>
            )}
            <HunkView
              review={review}
              file={file}
              painted={painted}
              hunk={hunk}
              position={[at + 1, hunks.length]}
              context={[lead, trail]}
              isInline={isInline}
              limit={shown + 2 * CONTEXT}
              isWritable={isWritable}
              onRevert={() => onRevert(hunk)}
            />
          </div>
        )
      })}
      {left < 0 && (
        <button
          type="button"
          class="button"
          onClick={() => {
            limit.value += 4 * PART
          }}
        >
          Show more of {total} changed lines
        </button>
      )}
    </div>
  )
}

/** A file without lines, by its sizes. */
function BinaryFile({ file }: { readonly file: ReviewedFile }) {
  const bytes = (content: Uint8Array | undefined) =>
    content === undefined ? 'no file' : `${content.length.toLocaleString('en')} bytes`
  const isImage = /\.(png|jpe?g|gif|webp|avif|bmp|ico)$/i.test(file.path)
  return (
    <div class="empty">
      <p>
        {isImage ? 'An image' : 'A binary file'}: {bytes(file.before)} before, {bytes(file.after)} now. It has no lines
        to compare.
      </p>
    </div>
  )
}
