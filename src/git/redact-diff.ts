import { type Redaction, redact } from '../files/secrets/index.ts'
import { trimEnds } from '../patch/line-diff.ts'

/** So much around the changed lines is looked at beside them. */
const MARGIN = 1024

/**
 * {@link redact} of a text that was made of another by a change in one place or a few: where the other holds no secret,
 * only the lines between the first and the last that differ can. No secret goes over the end of a line but a private key,
 * and a text that may hold one is looked at whole.
 */
export function redactChanged(text: string, before: Redaction): Redaction {
  if (before.marks.length > 0 || text.includes('PRIVATE KEY')) return redact(text)
  const { from, newTo } = trimEnds(before.text, text)
  const changed = text.slice(Math.max(0, from - MARGIN), newTo + MARGIN)
  return redact(changed).marks.length > 0 ? redact(text) : { text, marks: [] }
}
