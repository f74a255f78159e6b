import type { Failure } from '../../errors.ts'
import { checkArgument, isObjectValue } from '../../util/check-options.ts'

/** Formats the passage that is most similar to a text that was not found, as the end of an error message; `''` without one. */
export function formatNearestPassage(failure: Failure): string {
  const { nearest } = checkArgument('formatNearestPassage()', 'failure', failure, isObjectValue)
  if (nearest === undefined) return ''
  return `\nThe nearest passage, from line ${nearest.line}:\n${nearest.text}`
}
