/** A comment on lines of a change. */
export interface CommentDraft {
  readonly path: string
  /** Whether the lines are those of the start or the present ones. */
  readonly side: 'before' | 'after'
  /** Numbers of the first and the last line, from 1. */
  readonly from: number
  readonly to: number
  readonly quote: string
  readonly text: string
}

/** A comment that is not sent yet. */
export interface ReviewComment extends CommentDraft {
  readonly id: string
}

/** Quoted lines of one comment. The agent can read the others. */
const MAX_QUOTED = 20

/** Names the lines of a comment. */
export function placeOf({ side, from, to }: Pick<CommentDraft, 'side' | 'from' | 'to'>): string {
  const lines = from === to ? `line ${from}` : `lines ${from}–${to}`
  return side === 'before' ? `${lines} before the change` : lines
}

/**
 * Returns the message to an agent with comments on its changes.
 *
 * @param quotable the text that the agent may read; undefined if it may not read the file
 */
export function commentsInWords(
  comments: readonly CommentDraft[],
  quotable: (path: string, text: string) => string | undefined,
): string {
  const parts = comments.map((comment) => {
    const quote = quotable(comment.path, comment.quote)
    return [`\`${comment.path}\`, ${placeOf(comment)}:`, ...(quote ? [quoted(quote)] : []), comment.text].join('\n')
  })
  const start = comments.length === 1 ? 'I have a comment on the changes.' : 'I have comments on the changes.'
  return [start, ...parts].join('\n\n')
}

function quoted(text: string): string {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/)
  const shown = lines.slice(0, MAX_QUOTED).map((line) => `> ${line}`)
  return [...shown, ...(lines.length > MAX_QUOTED ? [`> … ${lines.length - MAX_QUOTED} more`] : [])].join('\n')
}
