import { type Signal, useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import { type ChangeHunk, linesOf } from '../../session/changes-hunks.ts'
import { placeOf, type ReviewComment } from '../../session/changes-message.ts'
import type { ChangesReview, ReviewedFile } from '../../session/changes-review.ts'

export interface CommentFormProps {
  readonly review: ChangesReview
  readonly file: ReviewedFile
  readonly hunk: ChangeHunk
  readonly open: Signal<boolean>
}

/** Writes a comment on lines of a change, at first on all of them. */
export function CommentForm({ review, file, hunk, open }: CommentFormProps) {
  const side = hunk.newLines.length > 0 ? 'after' : 'before'
  const [start, count] =
    side === 'after' ? [hunk.newStart, hunk.newLines.length] : [hunk.oldStart, hunk.oldLines.length]
  const from = useSignal(start + 1)
  const to = useSignal(start + count)
  const text = useSignal('')
  const field = useRef<HTMLTextAreaElement>(null)
  useLayoutEffect(() => field.current?.focus(), [])
  const lines = linesOf(file.text?.[side] ?? '')
  const add = () => {
    if (text.value.trim() === '') return
    const [first, last] = [Math.min(from.value, to.value), Math.max(from.value, to.value)]
    const quote = lines.slice(first - 1, last).join('')
    review.comment({ path: file.path, side, from: first, to: last, quote, text: text.value.trim() })
    open.value = false
  }
  const close = () => {
    open.value = false
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
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') close()
          else if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) add()
          else return
          event.preventDefault()
        }}
      />
      <div class="row wrap">
        <LineField label="From line" value={from} max={lines.length} />
        <LineField label="to line" value={to} max={lines.length} />
        <span class="grow" />
        <button type="button" class="button quiet" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="button primary" disabled={text.value.trim() === ''}>
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
}: {
  readonly label: string
  readonly value: Signal<number>
  readonly max: number
}) {
  return (
    <label class="row">
      {label}
      <input
        class="field line-field"
        type="number"
        min={1}
        max={max}
        value={value.value}
        onInput={({ currentTarget }) => {
          const line = Math.round(currentTarget.valueAsNumber)
          if (line >= 1 && line <= max) value.value = line
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
