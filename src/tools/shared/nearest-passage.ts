/** A passage of a file that comes nearest to a text which was not found in it. */
export interface Passage {
  readonly line: number
  readonly text: string
}

const MOST_LINES = 20_000
const MOST_SHOWN = 2000

/**
 * The passage most like `wanted`, by how many of its lines a window of the text shares with it, white space aside;
 * among equals, by the longest common part of its first line. Cost is linear in the text.
 */
export function nearestPassage(text: string, wanted: string): Passage | undefined {
  const lines = text.split(/\r?\n/, MOST_LINES)
  const wantedLines = wanted.split(/\r?\n/)
  while (wantedLines.length > 1 && wantedLines.at(-1) === '') wantedLines.pop()
  const height = wantedLines.length
  const sought = new Set(wantedLines.map(squeeze))
  sought.delete('')
  const shares = lines.map((line) => Number(sought.has(squeeze(line))))
  const leaving = [...new Array<number>(height).fill(0), ...shares].values()
  let best = { score: 0, line: -1 }
  let score = 0
  for (const [i, share] of shares.entries()) {
    score += share - Number(leaving.next().value)
    if (score > best.score) best = { score, line: Math.max(0, i - height + 1) }
  }
  const start = best.line === -1 ? mostSimilarLine(lines, wantedLines) : best.line
  if (start === undefined) return undefined
  const passage = lines.slice(start, start + height).join('\n')
  return { line: start + 1, text: passage.length > MOST_SHOWN ? `${passage.slice(0, MOST_SHOWN)}…` : passage }
}

function squeeze(line: string): string {
  return line.replace(/\s+/g, ' ').trim()
}

/** The line that shares the most words with the most telling wanted line. */
function mostSimilarLine(lines: readonly string[], wantedLines: readonly string[]): number | undefined {
  const telling = wantedLines.reduce(
    (longest, line) => (squeeze(line).length > squeeze(longest).length ? line : longest),
    '',
  )
  const words = new Set(Array.from(telling.matchAll(/[\p{L}\p{N}_$]+/gu), ([word]) => word).slice(0, 200))
  let best: { score: number; line: number } | undefined
  for (const [index, line] of lines.entries()) {
    let score = 0
    for (const [word] of line.slice(0, 2000).matchAll(/[\p{L}\p{N}_$]+/gu)) if (words.has(word)) score += 1
    if (score > 0 && score > (best?.score ?? 0)) best = { score, line: index }
  }
  if (best === undefined) return undefined
  return Math.max(0, best.line - wantedLines.indexOf(telling))
}
