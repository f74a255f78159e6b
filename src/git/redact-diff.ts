import { type Redaction, redact } from '../files/secrets/index.ts'
import { trimEnds } from '../patch/line-diff.ts'

/** UTF-16 units around the changed lines that are searched as well. */
const MARGIN = 1024

/**
 * Redacts a text that is similar to another one. If the other one has no secret, only the lines between the first and the
 * last difference are searched. Only private keys span several lines, so a text that may contain one is searched whole.
 */
export function redactChanged(text: string, before: Redaction): Redaction {
  if (before.marks.length > 0 || text.includes('PRIVATE KEY')) return redact(text)
  const { from, newTo } = trimEnds(before.text, text)
  const changed = text.slice(Math.max(0, from - MARGIN), newTo + MARGIN)
  return redact(changed).marks.length > 0 ? redact(text) : { text, marks: [] }
}
