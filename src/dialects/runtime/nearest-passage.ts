import type { Failure } from '../../errors.ts'

/** Where a text that was not found nearly is, as what a refusal ends with. */
export function nearestPassage({ nearest }: Failure): string {
  if (nearest === undefined) return ''
  const { line, text } = nearest as { line: number; text: string }
  return `\nThe nearest passage, from line ${line}:\n${text}`
}
