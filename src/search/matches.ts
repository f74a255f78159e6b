import type { Deadline } from './deadline.ts'
import { firstLineStart, lineEndBefore, lineFeedAt, lineStartAt } from './line-bounds.ts'
import type { Hit, Query } from './query.ts'

/** A line that matches. */
export interface FileMatch {
  /** From 1. */
  readonly line: number
  /** Of the first match in the line, from 1, in UTF-16 units of the decoded line. */
  readonly column: number
  /** The line without its line end; cut around the match where it is long, with `…` for what is left out. */
  readonly snippet: string
  /** The lines before, in order, cut at their end where they are long. */
  readonly before: string[]
  readonly after: string[]
}

export interface MatchOptions {
  readonly contextLines: number
  readonly maxMatches: number
  /** The longest snippet or context line, in UTF-16 units, each `…` included; a snippet takes three at least. */
  readonly snippetUnits: number
  readonly deadline?: Deadline
  /** Asked about the bytes of each match with its context, whole lines, before they are shown: false ends the search. */
  readonly mayShow?: (start: number, end: number) => boolean
}

/**
 * The lines of a UTF-8 text that match, in order: at most `maxMatches`, and only those found before the deadline, if it
 * passes. `truncated` says that there may be more, `stopped` that `mayShow` ended it. Bytes that are not UTF-8 show as U+FFFD.
 *
 * @example
 * const query = compileQuery({ query: 'b', mode: 'literal', caseSensitive: true })
 * const options = { contextLines: 1, maxMatches: 10, snippetUnits: 240 }
 * findMatches(query, new TextEncoder().encode('a\nab\n'), options).matches
 * // [{ line: 2, column: 2, snippet: 'ab', before: ['a'], after: [] }]
 */
export function findMatches(
  query: Query,
  bytes: Uint8Array,
  options: MatchOptions,
): { matches: FileMatch[]; truncated: boolean; stopped: boolean } {
  const { contextLines, maxMatches, snippetUnits, deadline, mayShow } = options
  const matches: FileMatch[] = []
  const first = firstLineStart(bytes)
  let line = 1
  let counted = first
  let truncated = false
  let stopped = false
  const visit = (hit: Hit): boolean => {
    if (matches.length >= maxMatches) {
      truncated = true
      return false
    }
    if (mayShow !== undefined) {
      const start = startOfLines(bytes, first, hit.lineStart, contextLines)
      stopped = !mayShow(start, endOfLines(bytes, hit.lineEnd, contextLines))
      if (stopped) return false
    }
    line += countLineFeeds(bytes, counted, hit.lineStart)
    counted = hit.lineStart
    matches.push({
      line,
      column: 1 + unitsIn(bytes, hit.lineStart, hit.matchStart),
      snippet: snippetOf(bytes, hit, snippetUnits),
      before: linesBefore(bytes, first, hit.lineStart, contextLines, snippetUnits),
      after: linesAfter(bytes, hit.lineEnd, contextLines, snippetUnits),
    })
    return true
  }
  query.eachLine(bytes, visit, deadline)
  return { matches, truncated: truncated || (deadline?.() ?? false), stopped }
}

const ELLIPSIS = '…'
const LF = 0x0a
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function countLineFeeds(bytes: Uint8Array, from: number, to: number): number {
  let count = 0
  for (let i = from; i < to; i++) if (bytes[i] === LF) count++
  return count
}

/** UTF-16 units of the text in `[from, to)`: one per character, two beyond the basic plane. */
function unitsIn(bytes: Uint8Array, from: number, to: number): number {
  let units = 0
  for (let i = from; i < to; i++) units += unitsOf(bytes[i] as number)
  return units
}

/** The units of the character that begins with this byte; none where the byte continues one. */
function unitsOf(byte: number): number {
  return (byte & 0xc0) === 0x80 ? 0 : byte >= 0xf0 ? 2 : 1
}

/** The line, or a window of it: the match with about a third of what is left before it. */
function snippetOf(bytes: Uint8Array, { lineStart, lineEnd, matchStart, matchEnd }: Hit, units: number): string {
  // A byte never gives more than one unit, so that a short line is seen at once.
  if (lineEnd - lineStart <= units || unitsIn(bytes, lineStart, lineEnd) <= units) {
    return decoder.decode(bytes.subarray(lineStart, lineEnd))
  }
  const room = Math.max(1, units - 2)
  const match = Math.min(room, unitsIn(bytes, matchStart, Math.min(matchEnd, matchStart + room * 4)))
  let start = back(bytes, matchStart, lineStart, Math.floor((room - match) / 3))
  const end = forth(bytes, start, lineEnd, room)
  if (end === lineEnd) start = back(bytes, lineEnd, lineStart, room)
  const text = decoder.decode(bytes.subarray(start, end))
  return `${start > lineStart ? ELLIPSIS : ''}${text}${end < lineEnd ? ELLIPSIS : ''}`
}

/** The offset at most `units` before `from`, not before `floor`, at the start of a character. */
function back(bytes: Uint8Array, from: number, floor: number, units: number): number {
  let left = units
  let at = from
  for (let i = from - 1; i >= floor; i--) {
    const size = unitsOf(bytes[i] as number)
    if (size === 0) continue
    left -= size
    if (left < 0) break
    at = i
  }
  return at
}

/** The offset at most `units` after `from`, not after `ceiling`, at the end of a character. */
function forth(bytes: Uint8Array, from: number, ceiling: number, units: number): number {
  let left = units
  for (let at = from; at < ceiling; at++) {
    left -= unitsOf(bytes[at] as number)
    if (left < 0) return at
  }
  return ceiling
}

/** Where the `count` lines before a line begin. */
function startOfLines(bytes: Uint8Array, first: number, lineStart: number, count: number): number {
  let start = lineStart
  for (let i = 0; i < count; i++) start = lineStartAt(bytes, start - 1, first)
  return start
}

/** Where the `count` lines after a line end. */
function endOfLines(bytes: Uint8Array, lineEnd: number, count: number): number {
  let end = lineEnd
  for (let i = 0; i < count; i++) end = lineFeedAt(bytes, lineFeedAt(bytes, end) + 1)
  return end
}

function linesBefore(bytes: Uint8Array, first: number, lineStart: number, count: number, units: number): string[] {
  const lines: string[] = []
  for (let end = lineStart; lines.length < count && end > first; ) {
    const start = lineStartAt(bytes, end - 1, first)
    lines.unshift(contextLine(bytes, start, lineEndBefore(bytes, start, end - 1), units))
    end = start
  }
  return lines
}

function linesAfter(bytes: Uint8Array, lineEnd: number, count: number, units: number): string[] {
  const lines: string[] = []
  let start = lineFeedAt(bytes, lineEnd) + 1
  while (lines.length < count && start < bytes.length) {
    const lineFeed = lineFeedAt(bytes, start)
    lines.push(contextLine(bytes, start, lineEndBefore(bytes, start, lineFeed), units))
    start = lineFeed + 1
  }
  return lines
}

function contextLine(bytes: Uint8Array, start: number, end: number, units: number): string {
  if (end - start <= units || unitsIn(bytes, start, end) <= units) return decoder.decode(bytes.subarray(start, end))
  return decoder.decode(bytes.subarray(start, forth(bytes, start, end, units - 1))) + ELLIPSIS
}
