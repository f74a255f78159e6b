import type { NumberedText } from '../../errors.ts'

const MAX_LINES = 20_000
const MAX_UNITS = 2000

/**
 * Returns the passage with the most lines in common with `text`, ignoring white space. If none has a line in common,
 * starts at the line that shares the most words with the longest line of `text`. Linear in the length of the file.
 */
export function nearestPassage(content: string, text: string): NumberedText | undefined {
  const lines = content.split(/\r?\n/, MAX_LINES)
  const textLines = text.split(/\r?\n/)
  while (textLines.length > 1 && textLines.at(-1) === '') textLines.pop()
  const height = textLines.length
  const squeezedLines = new Set(textLines.map(squeeze))
  squeezedLines.delete('')
  const shares = lines.map((line) => Number(squeezedLines.has(squeeze(line))))
  const leaving = [...new Array<number>(height).fill(0), ...shares].values()
  let best = { score: 0, line: -1 }
  let score = 0
  for (const [i, share] of shares.entries()) {
    score += share - Number(leaving.next().value)
    if (score > best.score) best = { score, line: Math.max(0, i - height + 1) }
  }
  const start = best.line === -1 ? mostSimilarLine(lines, textLines) : best.line
  if (start === undefined) return undefined
  const passage = lines.slice(start, start + height).join('\n')
  return { line: start + 1, text: passage.length > MAX_UNITS ? `${passage.slice(0, MAX_UNITS)}…` : passage }
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, ' ').trim()
}

/** The part of a long line that is compared, in UTF-16 units. */
const MAX_COMPARED = 2000

/** Returns the line that shares the most words with the longest line of the text. */
function mostSimilarLine(lines: readonly string[], textLines: readonly string[]): number | undefined {
  const longestLine = textLines.reduce(
    (longest, line) => (squeeze(line).length > squeeze(longest).length ? line : longest),
    '',
  )
  const start = longestLine.slice(0, MAX_COMPARED)
  const words = new Set(Array.from(start.matchAll(/[\p{L}\p{N}_$]+/gu), ([word]) => word).slice(0, 200))
  let best: { score: number; line: number } | undefined
  for (const [index, line] of lines.entries()) {
    let score = 0
    for (const [word] of line.slice(0, MAX_COMPARED).matchAll(/[\p{L}\p{N}_$]+/gu)) if (words.has(word)) score += 1
    if (score > 0 && score > (best?.score ?? 0)) best = { score, line: index }
  }
  if (best === undefined) return undefined
  return Math.max(0, best.line - textLines.indexOf(longestLine))
}
