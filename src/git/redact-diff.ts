import { findSecrets } from '../files/secrets/find.ts'
import type { Secret } from '../files/secrets/formats.ts'
import { type Redaction, redact } from '../files/secrets/index.ts'
import { findPasswords, PAIR_UNITS } from '../files/secrets/passwords.ts'
import { changedRegions, type Region } from '../patch/line-diff.ts'
import { runAtOnce } from '../util/steps.ts'

/**
 * Redacts a text that is similar to another one. If the other one has no secret, only the changed lines are searched, and
 * the lines between the first and the last of them for passwords, whose name may be on another line. Private keys and texts
 * with NULs span many lines, so a text that may contain one is searched whole.
 */
export function redactChanged(
  text: string,
  before: Redaction,
  regions: readonly Region[] = changedRegions(before.text, text),
): Redaction {
  const [first, last] = [regions[0], regions.at(-1)]
  if (before.marks.length > 0 || text.includes('VATE K') || text.includes('\0')) return redact(text)
  if (first === undefined || last === undefined) return { text, marks: [] }
  const lines = regions.map(({ newFrom, newTo }) => text.slice(newFrom, newTo)).join('')
  const secrets: Secret[] = [...findSecrets(lines)]
  runAtOnce(findPasswords(text.slice(Math.max(0, first.newFrom - PAIR_UNITS), last.newTo + PAIR_UNITS), secrets))
  return secrets.length > 0 ? redact(text) : { text, marks: [] }
}
