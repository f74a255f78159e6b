import {
  checkArgument,
  checkOptions,
  isBytes,
  isFunction,
  isObjectWith,
  must,
  type OptionTable,
} from '../util/check-options.ts'
import type { Deadline } from './deadline.ts'
import { firstLineStart, lineEndBefore, lineFeedAt, lineStartAt } from './line-bounds.ts'
import type { Hit, Query } from './query.ts'

/** A matching line. */
export interface FileMatch {
  /** Counted from 1. */
  readonly line: number
  /** Column of the first match in the line, from 1, in UTF-16 units of the decoded line. */
  readonly column: number
  /** The line without its line end. A long line is cut around the match, with `…` for the omitted text. */
  readonly snippet: string
  /** The lines before, in order. Long ones are cut at their end. */
  readonly before: string[]
  readonly after: string[]
}

/** The bounds of {@link findMatches}. */
export interface MatchOptions {
  readonly contextLines: number
  readonly maxMatches: number
  /** Maximum length of a snippet or context line, in UTF-16 units, including each `…`. A snippet has at least three. */
  readonly snippetUnits: number
  readonly deadline?: Deadline
  /** Called with the byte range of each match and its context, whole lines, before it is added. False ends the search. */
  readonly mayShow?: (start: number, end: number) => boolean
}

const isQuery = isObjectWith('a query of compileQuery()', 'eachLine')
const isCount = must('a number of at least 0', (value) => typeof value === 'number' && value >= 0)
const matchTable: OptionTable<MatchOptions> = {
  contextLines: isCount,
  maxMatches: isCount,
  snippetUnits: isCount,
  deadline: isFunction,
  mayShow: isFunction,
}

/**
 * Returns the matching lines of a UTF-8 text in order, at most `maxMatches`, and only those found before the deadline.
 * `truncated`: there may be more; `stopped`: `mayShow` ended the search. Bytes that are not UTF-8 decode to U+FFFD.
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
  checkArgument('findMatches()', 'query', query, isQuery)
  checkArgument('findMatches()', 'bytes', bytes, isBytes)
  checkOptions('findMatches()', options, matchTable, 'contextLines', 'maxMatches', 'snippetUnits')
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

/** UTF-16 units of the text in `[from, to)`: one per character, two beyond the basic multilingual plane. */
function unitsIn(bytes: Uint8Array, from: number, to: number): number {
  let units = 0
  for (let i = from; i < to; i++) units += unitsOf(bytes[i] as number)
  return units
}

/** The units of the character that begins with this byte; 0 for a continuation byte. */
function unitsOf(byte: number): number {
  return (byte & 0xc0) === 0x80 ? 0 : byte >= 0xf0 ? 2 : 1
}

/** The line, or a window of it: the match, with a third of the remaining units before it. */
function snippetOf(bytes: Uint8Array, { lineStart, lineEnd, matchStart, matchEnd }: Hit, units: number): string {
  // A text never has more units than bytes, so a short line needs no count.
  if (lineEnd - lineStart <= units || unitsIn(bytes, lineStart, lineEnd) <= units) {
    return decoder.decode(bytes.subarray(lineStart, lineEnd))
  }
  const room = Math.max(1, units - 2)
  const match = Math.min(room, unitsIn(bytes, matchStart, Math.min(matchEnd, matchStart + room * 4)))
  let start = offsetBefore(bytes, matchStart, lineStart, Math.floor((room - match) / 3))
  const end = offsetAfter(bytes, start, lineEnd, room)
  if (end === lineEnd) start = offsetBefore(bytes, lineEnd, lineStart, room)
  const text = decoder.decode(bytes.subarray(start, end))
  return `${start > lineStart ? ELLIPSIS : ''}${text}${end < lineEnd ? ELLIPSIS : ''}`
}

/** The start of a character at most `units` before `from`, not before `floor`. */
function offsetBefore(bytes: Uint8Array, from: number, floor: number, units: number): number {
  let remaining = units
  let at = from
  for (let i = from - 1; i >= floor; i--) {
    const size = unitsOf(bytes[i] as number)
    if (size === 0) continue
    remaining -= size
    if (remaining < 0) break
    at = i
  }
  return at
}

/** The end of a character at most `units` after `from`, not after `ceiling`. */
function offsetAfter(bytes: Uint8Array, from: number, ceiling: number, units: number): number {
  let remaining = units
  for (let at = from; at < ceiling; at++) {
    remaining -= unitsOf(bytes[at] as number)
    if (remaining < 0) return at
  }
  return ceiling
}

/** The start of the `count` lines before a line. */
function startOfLines(bytes: Uint8Array, first: number, lineStart: number, count: number): number {
  let start = lineStart
  for (let i = 0; i < count; i++) start = lineStartAt(bytes, start - 1, first)
  return start
}

/** The end of the `count` lines after a line. */
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
  return decoder.decode(bytes.subarray(start, offsetAfter(bytes, start, end, units - 1))) + ELLIPSIS
}
