import type { Failure } from '../../errors.ts'

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
  const more = JSON.stringify(details)
  return `${code}: ${message}\n${hint}${more === '{}' ? '' : `\n${more}`}`
}
