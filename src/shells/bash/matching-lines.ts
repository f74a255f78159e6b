import { firstLineStart, lineFeedAt } from '../../search/line-bounds.ts'
import type { Query } from '../../search/query.ts'

export interface LineOptions {
  /** Selects the lines that do not match. */
  readonly invert: boolean
  readonly before: number
  readonly after: number
  readonly maxCount: number
  readonly lineNumbers: boolean
}

/** A line of the output, as offsets. Keeps a carriage return before the line feed, as grep does. */
export interface ShownLine {
  readonly start: number
  readonly end: number
  /** From 1; 0 without `lineNumbers`. */
  readonly number: number
  /** False for a line of context. */
  readonly isMatch: boolean
  /** Whether lines are left out between it and the line shown before it. */
  readonly isApart: boolean
}

/** Receives the start of a selected line and the offset of its line feed. Returns false to stop. */
type LineVisitor = (start: number, end: number) => boolean

const LF = 0x0a

/** Counts the selected lines, up to `maxCount`. */
export function countLines(query: Query, bytes: Uint8Array, { invert, maxCount }: LineOptions): number {
  let count = 0
  const visit = () => ++count < maxCount
  if (invert) eachOtherLine(query, bytes, visit)
  else query.eachLine(bytes, visit)
  return count
}

/** Calls `show` with each selected line and its context, in order. Keeps no list: a text may have millions of lines. */
export function eachShownLine(
  query: Query,
  bytes: Uint8Array,
  options: LineOptions,
  show: (line: ShownLine) => void,
): void {
  const { before, after, maxCount, lineNumbers } = options
  let counted = 0
  let number = 1
  let shownTo = -1
  const showLine = (start: number, end: number, isMatch: boolean) => {
    for (; lineNumbers && counted < start; counted++) if (bytes[counted] === LF) number += 1
    const isApart = shownTo !== -1 && start > shownTo + 1
    show({ start, end, number: lineNumbers ? number : 0, isMatch, isApart })
    shownTo = end
  }
  const showAfter = (limit: number) => {
    if (shownTo === -1) return
    for (let shown = 0, start = shownTo + 1; shown < after && start < limit; shown++) {
      const end = lineFeedAt(bytes, start)
      showLine(start, end, false)
      start = end + 1
    }
  }
  let matches = 0
  const visit: LineVisitor = (start, end) => {
    showAfter(start)
    for (const [from, to] of linesBefore(bytes, start, before, shownTo)) showLine(from, to, false)
    showLine(start, end, true)
    matches += 1
    return matches < maxCount
  }
  if (options.invert) eachOtherLine(query, bytes, visit)
  else query.eachLine(bytes, ({ lineStart, lineEnd }) => visit(lineStart, lineFeedAt(bytes, lineEnd)))
  showAfter(bytes.length)
}

function linesBefore(bytes: Uint8Array, start: number, maxLines: number, shownTo: number): [number, number][] {
  const lines: [number, number][] = []
  let end = start - 1
  while (lines.length < maxLines && end >= 0 && end > shownTo) {
    const before = bytes.lastIndexOf(LF, end - 1)
    const from = end === 0 ? 0 : before + 1
    lines.push([from, end])
    end = from - 1
  }
  return lines.reverse()
}

/** Visits the lines that do not match. */
function eachOtherLine(query: Query, bytes: Uint8Array, visit: LineVisitor): void {
  let start = firstLineStart(bytes)
  let goesOn = true
  const visitUntil = (limit: number) => {
    while (goesOn && start < limit) {
      const end = lineFeedAt(bytes, start)
      goesOn = visit(start, end)
      start = end + 1
    }
  }
  query.eachLine(bytes, ({ lineStart, lineEnd }) => {
    visitUntil(lineStart)
    start = lineFeedAt(bytes, lineEnd) + 1
    return goesOn
  })
  visitUntil(bytes.length)
}
