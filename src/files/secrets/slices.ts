import type { Steps } from '../../util/steps.ts'

/** Units of a text that one step of a search covers. */
export const SLICE = 32_768

/** No match of a pattern for {@link visitMatches} is longer. */
const LONGEST_MATCH = 128

/**
 * Visits all matches of a global pattern in a text, with their offsets, and pauses after each slice. The pattern has a
 * bounded length and looks neither ahead nor behind.
 */
export function* visitMatches(
  text: string,
  pattern: RegExp,
  visit: (at: number, match: RegExpExecArray) => void,
): Steps<void> {
  let next = 0
  for (let from = 0; from < text.length; from += SLICE) {
    const slice = text.length <= SLICE ? text : text.slice(from, from + SLICE + LONGEST_MATCH)
    for (;;) {
      pattern.lastIndex = Math.max(0, next - from)
      const match = pattern.exec(slice)
      if (match === null || match.index >= SLICE) break
      next = from + match.index + match[0].length
      visit(from + match.index, match)
    }
    if (from + SLICE < text.length) yield
  }
}

/** Visits the offsets of a literal in a text, and pauses like {@link visitMatches}. Twice as fast as a pattern. */
export function* visitLiteral(text: string, literal: string, visit: (at: number) => void): Steps<void> {
  let pausedAt = 0
  for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + literal.length)) {
    visit(at)
    if (at < pausedAt + SLICE) continue
    yield
    pausedAt = at
  }
}
