import type { Query } from '../../search/query.ts'

export interface LineOptions {
  /** Selects the lines that do not match. */
  readonly invert: boolean
  readonly before: number
  readonly after: number
  readonly maxCount: number
  readonly lineNumbers: boolean
}

/** A line of the output. */
export interface ShownLine {
  /** From 1; 0 without `lineNumbers`. */
  readonly number: number
  readonly text: string
  /** False for a line of context. */
  readonly isMatch: boolean
  /** Whether lines are left out before it. */
  readonly isApart: boolean
}

const LF = 0x0a
const decoder = new TextDecoder('utf-8')

/** Counts the selected lines, up to `maxCount`. */
export function countLines(query: Query, bytes: Uint8Array, { invert, maxCount }: LineOptions): number {
  let count = 0
  if (!invert) {
    query.eachLine(bytes, () => ++count < maxCount)
    return count
  }
  for (const _ of otherLines(query, bytes)) if (++count >= maxCount) break
  return count
}

/** Returns the selected lines with their context. */
export function shownLines(query: Query, bytes: Uint8Array, options: LineOptions): ShownLine[] {
  const matches: (readonly [start: number, end: number])[] = []
  if (options.invert) {
    for (const line of otherLines(query, bytes)) {
      matches.push(line)
      if (matches.length >= options.maxCount) break
    }
  } else {
    query.eachLine(bytes, ({ lineStart, lineEnd }) => {
      matches.push([lineStart, lineEnd])
      return matches.length < options.maxCount
    })
  }
  const lines: ShownLine[] = []
  let counted = 0
  let number = 1
  let shownTo = -1
  /** Keeps a carriage return before the line feed, as grep does. */
  const add = (start: number, lineEnd: number, isMatch: boolean) => {
    const feed = bytes.indexOf(LF, lineEnd)
    const end = feed === -1 ? bytes.length : feed
    for (; options.lineNumbers && counted < start; counted++) if (bytes[counted] === LF) number += 1
    const isApart = lines.length > 0 && start > shownTo + 1
    const text = decoder.decode(bytes.subarray(start, end))
    lines.push({ number: options.lineNumbers ? number : 0, text, isMatch, isApart })
    shownTo = end
  }
  for (const [index, [start, end]] of matches.entries()) {
    for (const line of linesBefore(bytes, start, options.before, shownTo)) add(line[0], line[1], false)
    add(start, end, true)
    const next = matches[index + 1]?.[0] ?? bytes.length
    for (const line of linesAfter(bytes, end, options.after)) {
      if (line[0] >= next) break
      add(line[0], line[1], false)
    }
  }
  return lines
}

function linesBefore(bytes: Uint8Array, start: number, maxLines: number, shownTo: number): [number, number][] {
  const lines: [number, number][] = []
  let end = start - 1
  while (lines.length < maxLines && end >= 0 && end > shownTo) {
    const before = bytes.lastIndexOf(LF, end - 1)
    const from = end === 0 ? 0 : before + 1
    lines.unshift([from, end])
    end = from - 1
  }
  return lines
}

function linesAfter(bytes: Uint8Array, lineEnd: number, maxLines: number): [number, number][] {
  const lines: [number, number][] = []
  let at = bytes.indexOf(LF, lineEnd)
  while (lines.length < maxLines && at !== -1 && at + 1 < bytes.length) {
    const next = bytes.indexOf(LF, at + 1)
    lines.push([at + 1, next === -1 ? bytes.length : next])
    at = next
  }
  return lines
}

/** Yields the lines that do not match. */
function* otherLines(query: Query, bytes: Uint8Array): Generator<[number, number]> {
  const matching = new Set<number>()
  query.eachLine(bytes, ({ lineStart }) => {
    matching.add(lineStart)
    return true
  })
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(LF, start)
    const stop = end === -1 ? bytes.length : end
    if (!matching.has(start)) yield [start, stop]
    start = stop + 1
  }
}
