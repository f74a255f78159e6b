import { diffLines } from '../patch/line-diff.ts'

/** Where a line differs: from and to, in order. */
export type Offsets = readonly (readonly [from: number, to: number])[]

/** Longer changes do not show which words differ. */
const MAX_COMPARED = 20_000

/** Returns for each line of the two sides of a change where its words differ. */
export function changedWords(
  oldLines: readonly string[],
  newLines: readonly string[],
): readonly [old: readonly Offsets[], current: readonly Offsets[]] {
  const [before, after] = [oldLines.join(''), newLines.join('')]
  if (before === '' || after === '' || before.length + after.length > MAX_COMPARED) return [[], []]
  const [oldWords, newWords] = [wordsOf(before), wordsOf(after)]
  const hunks = diffLines(asLines(oldWords), asLines(newWords))
  const oldRanges = hunks.map(({ oldStart, oldLines: count }) => rangeOf(oldWords, oldStart, count))
  const newRanges = hunks.map(({ newStart, newLines: count }) => rangeOf(newWords, newStart, count))
  return [byLine(oldLines, before, oldRanges), byLine(newLines, after, newRanges)]
}

/** Splits a text into words, spaces, line ends and other characters. */
function wordsOf(text: string): readonly string[] {
  return text.match(/\r?\n|[^\S\r\n]+|[\p{L}\p{N}_]+|./gsu) ?? []
}

/** A line for each word. */
function asLines(words: readonly string[]): string {
  return words.map((word) => (word.endsWith('\n') ? word : `${word}\n`)).join('')
}

/** Returns the offsets of some words, of which the first has a number from 1. */
function rangeOf(words: readonly string[], first: number, count: number): readonly [from: number, to: number] {
  if (count === 0) return [0, 0]
  const from = words.slice(0, first - 1).join('').length
  return [from, from + words.slice(first - 1, first - 1 + count).join('').length]
}

/** Cuts ranges of a text at its lines. Those with only a space between them become one. */
function byLine(lines: readonly string[], text: string, ranges: Offsets): readonly Offsets[] {
  const joined: (readonly [from: number, to: number])[] = []
  for (const [from, to] of ranges) {
    const last = joined.at(-1)
    if (from === to) continue
    if (last !== undefined && /^\s$/.test(text.slice(last[1], from))) joined[joined.length - 1] = [last[0], to]
    else joined.push([from, to])
  }
  let start = 0
  return lines.map((line) => {
    const [from, to] = [start, start + line.length]
    start = to
    return joined
      .filter(([a, b]) => a < to && b > from)
      .map(([a, b]) => [Math.max(0, a - from), Math.min(line.length, b - from)] as const)
  })
}
