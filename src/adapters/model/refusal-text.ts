import type { Failure } from '../../errors.ts'
import { shortVersion } from '../../util/short-version.ts'

/** Details that are versions. */
const versions: ReadonlySet<string> = new Set(['currentSha256', 'currentBaseCommit'])

/** Formats a refusal: code and message, hint, and the remaining details. The path is in the message, suggestions are in the hint. */
export function refusalText({
  ok: _,
  code,
  message,
  hint,
  path: _path,
  suggestions: _named,
  ...details
}: Failure): string {
  const more = JSON.stringify(details, (name, value) => (versions.has(name) ? shortVersion(String(value)) : value))
  return `${code}: ${message}\n${hint}${more === '{}' ? '' : `\n${more}`}`
}
