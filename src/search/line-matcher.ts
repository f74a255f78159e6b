import { createDfa, DEAD, type Dfa, isWordByte, STOP, UNKNOWN } from './dfa.ts'
import { runBackward, runForward, runFour } from './dfa-run.ts'
import { lineFeedAt } from './line-bounds.ts'
import { buildNfa, reverseNfa } from './nfa.ts'
import type { Node } from './syntax.ts'

/** Says whether the time is up. */
export type Deadline = () => boolean

/** Thrown through the loops where the deadline passed; caught in `query.ts`, never seen outside. */
export const timeIsUp = Symbol('time is up')

/** Runs a regular expression over lines: each byte a few times at most, whatever the pattern. Each may throw `timeIsUp`. */
export interface LineMatcher {
  /** Whether some line from `from` on matches. `from` must start a line. */
  exists(bytes: Uint8Array, from: number, deadline: Deadline | undefined): boolean
  /** An offset in, or at the end of, the first line from `from` on that matches, or -1. `from` must start a line. */
  scan(bytes: Uint8Array, from: number, deadline: Deadline | undefined): number
  /**
   * Looks for a match from somewhere in a line on, to its end at most: an offset in that line, or at its end, where there
   * is one; otherwise `~` of where the run stopped, because no match was under way any more.
   */
  resume(bytes: Uint8Array, from: number, atLineStart: boolean, deadline: Deadline | undefined): number
  /** Where the leftmost match in a line ends, or -1. */
  matchEnd(bytes: Uint8Array, lineStart: number, lineEnd: number, deadline: Deadline | undefined): number
  /** Where the match starts that ends at `end`. */
  matchStart(bytes: Uint8Array, lineStart: number, lineEnd: number, end: number, deadline: Deadline | undefined): number
}

/** Throws `INVALID_PATTERN` where the pattern is too large. Its automata are built as far as texts lead them. */
export function createLineMatcher(root: Node): LineMatcher {
  const nfa = buildNfa(root)
  let lines: Dfa | undefined
  let rest: Dfa | undefined
  let first: Dfa | undefined
  let longest: Dfa | undefined
  let computed = 0
  const cursors = new Int32Array(4)

  return { exists, scan, resume, matchEnd, matchStart }

  function exists(bytes: Uint8Array, from: number, deadline: Deadline | undefined): boolean {
    if (bytes.length - from < WORTH_SPLITTING) return scan(bytes, from, deadline) !== -1
    lines ??= createDfa(nfa, 'lines')
    const dfa = lines
    const { columns } = dfa
    const quarter = (bytes.length - from) >> 2
    const second = lineFeedAt(bytes, from + quarter) + 1
    const third = lineFeedAt(bytes, Math.max(second, from + 2 * quarter)) + 1
    const fourth = lineFeedAt(bytes, Math.max(third, from + 3 * quarter)) + 1
    if (fourth >= bytes.length) return scan(bytes, from, deadline) !== -1
    const places: [number, number, number, number] = [from, second, third, fourth]
    const ends = [second, third, fourth, bytes.length]
    const shortest = Math.min(second - from, third - second, fourth - third, bytes.length - fourth)
    cursors.fill(dfa.start(true, false))
    const drops = dfa.drops()
    for (let done = 0; done < shortest; ) {
      const steps = runFour(dfa.table(), columns, bytes, places, Math.min(STRETCH, shortest - done), cursors)
      done += steps
      for (let i = 0; i < 4; i++) places[i] = (places[i] as number) + steps
      if (deadline?.()) throw timeIsUp
      if (done === shortest) break
      if (steps === STRETCH) continue
      for (let i = 0; i < 4; i++) {
        const next = lookUp(
          dfa,
          cursors[i] as number,
          columns[bytes[places[i] as number] as number] as number,
          deadline,
        )
        if (next < 0) return true
        // The others' cursors are stale then: rare enough to begin again, one after the other.
        if (dfa.drops() !== drops) return scan(bytes, from, deadline) !== -1
        cursors[i] = next
        places[i] = (places[i] as number) + 1
      }
      done += 1
    }
    const others = cursors.slice()
    for (let i = 0; i < 4; i++) {
      const cursor = dfa.drops() === drops ? (others[i] as number) : -1
      const at =
        cursor === -1
          ? scanLines(dfa, bytes, ends[i - 1] ?? from, ends[i] as number, dfa.start(true, false), deadline)
          : scanLines(dfa, bytes, places[i] as number, ends[i] as number, cursor, deadline)
      if (at !== -1) return true
    }
    return false
  }

  function scan(bytes: Uint8Array, from: number, deadline: Deadline | undefined): number {
    lines ??= createDfa(nfa, 'lines')
    return scanLines(lines, bytes, from, bytes.length, lines.start(true, false), deadline)
  }

  /** Runs over whole lines, or what is left of the first and then whole ones. */
  function scanLines(
    dfa: Dfa,
    bytes: Uint8Array,
    from: number,
    to: number,
    cursor: number,
    deadline: Deadline | undefined,
  ): number {
    if (from >= to) return -1
    const { columns, endColumn } = dfa
    cursors[0] = cursor
    for (let at = from; at < to; ) {
      const pause = Math.min(to, at + STRETCH)
      at = runForward(dfa.table(), columns, bytes, at, pause, cursors)
      if (at === pause) {
        if (at < to && deadline?.()) throw timeIsUp
        continue
      }
      const next = lookUp(dfa, cursors[0] as number, columns[bytes[at] as number] as number, deadline)
      if (next < 0) return at
      cursors[0] = next
      at += 1
    }
    if (bytes[to - 1] === LF) return -1
    return lookUp(dfa, cursors[0] as number, endColumn, deadline) < 0 ? to : -1
  }

  function resume(bytes: Uint8Array, from: number, atLineStart: boolean, deadline: Deadline | undefined): number {
    rest ??= createDfa(nfa, 'rest')
    const dfa = rest
    const { columns, endColumn } = dfa
    cursors[0] = dfa.start(atLineStart, !atLineStart && isWordByte(bytes[from - 1] as number))
    const end = bytes.length
    for (let at = from; at < end; ) {
      const pause = Math.min(end, at + STRETCH)
      at = runForward(dfa.table(), columns, bytes, at, pause, cursors)
      if (at === pause) {
        if (at < end && deadline?.()) throw timeIsUp
        continue
      }
      const next = lookUp(dfa, cursors[0] as number, columns[bytes[at] as number] as number, deadline)
      if (next === STOP) return ~(at + 1)
      if (next < 0) return at
      cursors[0] = next
      at += 1
    }
    return lookUp(dfa, cursors[0] as number, endColumn, deadline) === STOP ? ~end : end
  }

  function matchEnd(bytes: Uint8Array, lineStart: number, lineEnd: number, deadline: Deadline | undefined): number {
    first ??= createDfa(nfa, 'first')
    const dfa = first
    const { columns, endColumn } = dfa
    cursors[0] = dfa.start(true, false)
    let found = -1
    for (let at = lineStart; at < lineEnd; ) {
      const pause = Math.min(lineEnd, at + STRETCH)
      at = runForward(dfa.table(), columns, bytes, at, pause, cursors)
      if (at === pause) {
        if (at < lineEnd && deadline?.()) throw timeIsUp
        continue
      }
      let next = lookUp(dfa, cursors[0] as number, columns[bytes[at] as number] as number, deadline)
      if (next === STOP) return found
      if (next < 0) {
        found = at
        next = ~next
        if (next === DEAD) return found
      }
      cursors[0] = next
      at += 1
    }
    return lookUp(dfa, cursors[0] as number, endColumn, deadline) === STOP ? found : lineEnd
  }

  function matchStart(
    bytes: Uint8Array,
    lineStart: number,
    lineEnd: number,
    end: number,
    deadline: Deadline | undefined,
  ): number {
    longest ??= createDfa(reverseNfa(nfa), 'longest')
    const dfa = longest
    const { columns, endColumn } = dfa
    cursors[0] = dfa.start(end === lineEnd, end < lineEnd && isWordByte(bytes[end] as number))
    let found = end
    for (let at = end - 1; at >= lineStart; ) {
      const pause = Math.max(lineStart, at - STRETCH)
      at = runBackward(dfa.table(), columns, bytes, at, pause, cursors)
      if (at === pause - 1) {
        if (at >= lineStart && deadline?.()) throw timeIsUp
        continue
      }
      let next = lookUp(dfa, cursors[0] as number, columns[bytes[at] as number] as number, deadline)
      if (next === STOP) return found
      if (next < 0) {
        found = at + 1
        next = ~next
        if (next === DEAD) return found
      }
      cursors[0] = next
      at -= 1
    }
    return lookUp(dfa, cursors[0] as number, endColumn, deadline) === STOP ? found : lineStart
  }

  /** Making a state costs as much as running over many bytes, so the deadline is asked for here too. */
  function lookUp(dfa: Dfa, cursor: number, column: number, deadline: Deadline | undefined): number {
    const known = dfa.table()[cursor + column] as number
    if (known !== UNKNOWN) return known
    computed += 1
    if ((computed & 127) === 0 && deadline?.()) throw timeIsUp
    return dfa.compute(cursor, column)
  }
}

const LF = 0x0a
/** Bytes between two questions for the deadline. */
const STRETCH = 1 << 16
/** Below this, finding four beginnings costs more than running from them saves. */
const WORTH_SPLITTING = 512
