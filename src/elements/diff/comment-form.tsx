import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Changes, ReviewedFile } from '../../ui/changes.ts'
import { placeOf, type ReviewComment } from '../../ui/changes-comments.ts'
import type { ChangeHunk } from '../../ui/changes-hunks.ts'
import { showForm } from '../parts/focusable.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'

export interface CommentFormProps {
  readonly review: Changes
  readonly file: ReviewedFile
  readonly hunk: ChangeHunk
  readonly text: string
  readonly takesFocus: boolean
  readonly onText: (text: string) => void
  /** Closes the form; the text stays. */
  readonly onClose: () => void
}

/** Writes a comment on lines of a change, at first on all of them. */
export function CommentForm({ review, file, hunk, text, takesFocus, onText, onClose }: CommentFormProps) {
  const side = hunk.newLines.length > 0 ? 'after' : 'before'
  const [start, count] =
    side === 'after' ? [hunk.newStart, hunk.newLines.length] : [hunk.oldStart, hunk.oldLines.length]
  // Counted from the change, which moves when lines above it come or go.
  const [skipped, setSkipped] = useState(0)
  const [length, setLength] = useState<number | undefined>(undefined)
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => {
    if (takesFocus) showForm(field.current)
  }, [takesFocus])
  const lines = file.lines[side]
  const from = Math.min(start + 1 + skipped, lines.length)
  const to = Math.min(start + (length ?? count), lines.length)
  const add = () => {
    if (text.trim() === '') return
    const [first, last] = [Math.min(from, to), Math.max(from, to)]
    const quote = lines.slice(first - 1, last).join('')
    review.comment({ path: file.path, side, from: first, to: last, quote, text: text.trim() })
    onText('')
    onClose()
  }
  return (
    <form
      class="comment-form stack"
      aria-label="Comment"
      onSubmit={(event) => {
        event.preventDefault()
        add()
      }}
    >
      <textarea
        ref={field}
        class="field"
        rows={3}
        aria-label="Comment for the agent"
        placeholder="What should the agent do here?"
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose()
          else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) add()
          else return
          event.preventDefault()
        }}
      />
      <div class="row wrap">
        <LineField label="From line" value={from} onLine={(line) => setSkipped(line - start - 1)} max={lines.length} />
        <LineField label="to line" value={to} onLine={(line) => setLength(line - start)} max={lines.length} />
        <span class="grow" />
        <button type="button" class="button quiet" onClick={onClose}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={text.trim() === ''}>
          Add comment
        </button>
      </div>
    </form>
  )
}

function LineField({
  label,
  value,
  max,
  onLine,
}: {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly onLine: (line: number) => void
}) {
  return (
    <label class="row">
      {label}
      <input
        class="field line-field"
        type="number"
        min={1}
        max={max}
        value={value}
        onInput={({ currentTarget }) => {
          const line = Math.round(currentTarget.valueAsNumber)
          if (line >= 1 && line <= max) onLine(line)
        }}
      />
    </label>
  )
}

/** A comment that is not sent yet. */
export function CommentNote({ comment, onRemove }: { readonly comment: ReviewComment; readonly onRemove: () => void }) {
  return (
    <div class="comment-note row">
      <Icon name="chat" />
      <span class="grow">
        <span class="muted small">Your comment on {placeOf(comment)}</span>
        <br />
        {comment.text}
      </span>
      <IconButton icon="trash" label="Remove the comment" onClick={onRemove} />
    </div>
  )
}
