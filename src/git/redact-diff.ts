import { type Redaction, redact } from '../files/secrets/index.ts'
import { PAIR_UNITS } from '../files/secrets/passwords.ts'
import { trimEnds } from '../patch/line-diff.ts'

/**
 * Redacts a text that is similar to another one. If the other one has no secret, only the lines between the first and the
 * last difference are searched. Only private keys span many lines, so a text that may contain one is searched whole.
 */
export function redactChanged(text: string, before: Redaction): Redaction {
  if (before.marks.length > 0 || text.includes('PRIVATE KEY')) return redact(text)
  const { from, newTo } = trimEnds(before.text, text)
  const changed = text.slice(Math.max(0, from - PAIR_UNITS), newTo + PAIR_UNITS)
  return redact(changed).marks.length > 0 ? redact(text) : { text, marks: [] }
}
