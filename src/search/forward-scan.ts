import type { Automata } from './automata.ts'
import { DEADLINE_INTERVAL, type Deadline, throwIfPast } from './deadline.ts'
import { type Dfa, STOP, UNKNOWN } from './dfa.ts'
import { runForward, runFour } from './dfa-run.ts'
import { lineFeedAt } from './line-bounds.ts'
import { isWordByte } from './word-byte.ts'

const LF = 0x0a
/** In a shorter text, finding four starting points costs more than parallel runs save. */
const MIN_PARALLEL = 512
/** In bytes; a longer run can as well begin again. */
const SHORT_RUN = 256

/** Whether some line from `from` on matches; `from` must start a line. Throws `deadlineReached`. */
export function hasMatch(automata: Automata, bytes: Uint8Array, from: number, deadline: Deadline | undefined): boolean {
  const size = bytes.length - from
  if (size < MIN_PARALLEL) return scanFrom(automata, bytes, from, deadline) !== -1
  const quarter = size >> 2
  const second = lineFeedAt(bytes, from + quarter) + 1
  const third = lineFeedAt(bytes, Math.max(second, from + 2 * quarter)) + 1
  const fourth = lineFeedAt(bytes, Math.max(third, from + 3 * quarter)) + 1
  if (fourth >= bytes.length) return scanFrom(automata, bytes, from, deadline) !== -1
  return hasMatchInParts(automata, bytes, [from, second, third, fourth], deadline)
}

/**
 * Returns an offset within the first matching line at or after `from`, or the offset of its end; -1 if no line matches. Throws
 * `deadlineReached`.
 */
export function scanFrom(automata: Automata, bytes: Uint8Array, from: number, deadline: Deadline | undefined): number {
  if (from >= bytes.length) return -1
  const dfa = automata.lines
  return scanLines(automata, dfa, bytes, from, bytes.length, dfa.start(true, false), deadline)
}

/** Runs over four parts of the text at once, see {@link runFour}. */
function hasMatchInParts(
  automata: Automata,
  bytes: Uint8Array,
  starts: readonly [number, number, number, number],
  deadline: Deadline | undefined,
): boolean {
  const { lines: dfa, cursors } = automata
  const { columns } = dfa
  const [first, second, third, fourth] = starts
  const ends = [second, third, fourth, bytes.length]
  const positions: [number, number, number, number] = [first, second, third, fourth]
  const shortest = Math.min(second - first, third - second, fourth - third, bytes.length - fourth)
  cursors.fill(dfa.start(true, false))
  const { drops } = dfa
  for (let done = 0; done < shortest; ) {
    const maxSteps = Math.min(DEADLINE_INTERVAL, shortest - done)
    const steps = runFour(dfa.table, columns, bytes, positions, maxSteps, cursors)
    done += steps
    automata.bytesRead += 4 * steps
    for (let i = 0; i < 4; i++) positions[i] = (positions[i] as number) + steps
    throwIfPast(deadline)
    if (done === shortest) break
    if (steps === DEADLINE_INTERVAL) continue
    for (let i = 0; i < 4; i++) {
      const column = columns[bytes[positions[i] as number] as number] as number
      const next = automata.lookUp(dfa, cursors[i] as number, column, deadline)
      if (next < 0) return true
      // Invalidates the other cursors: rare enough to begin again, without parallel runs.
      if (dfa.drops !== drops) return scanFrom(automata, bytes, first, deadline) !== -1
      cursors[i] = next
      positions[i] = (positions[i] as number) + 1
    }
    done += 1
  }
  const parts = cursors.slice()
  for (let i = 0; i < 4; i++) {
    const isValid = dfa.drops === drops
    const position = isValid ? (positions[i] as number) : (starts[i] as number)
    const cursor = isValid ? (parts[i] as number) : dfa.start(true, false)
    if (scanLines(automata, dfa, bytes, position, ends[i] as number, cursor, deadline) !== -1) return true
  }
  return false
}

/**
 * Runs over whole lines, or over the remainder of a line and then whole ones. The range may be empty where the end of the
 * line is still to be read.
 */
function scanLines(
  automata: Automata,
  dfa: Dfa,
  bytes: Uint8Array,
  from: number,
  to: number,
  cursor: number,
  deadline: Deadline | undefined,
): number {
  const { cursors } = automata
  const { columns, endColumn } = dfa
  cursors[0] = cursor
  for (let at = from; at < to; at++) {
    at = automata.runForward(dfa, bytes, at, to, deadline)
    if (at === to) break
    const column = columns[bytes[at] as number] as number
    const next = automata.lookUp(dfa, cursors[0] as number, column, deadline)
    if (next < 0) return at
    cursors[0] = next
  }
  if (bytes[to - 1] === LF) return -1
  return automata.lookUp(dfa, cursors[0] as number, endColumn, deadline) < 0 ? to : -1
}

/**
 * Looks for a match from an offset inside a line to the end of the line. Returns an offset in the line, or at its end, if
 * there is one; otherwise `~` of the offset where the run stopped because no match was in progress. Throws
 * `deadlineReached`.
 */
export function resumeFrom(
  automata: Automata,
  bytes: Uint8Array,
  from: number,
  atLineStart: boolean,
  deadline: Deadline | undefined,
): number {
  const { rest: dfa, cursors } = automata
  const { columns, endColumn } = dfa
  cursors[0] = dfa.start(atLineStart, !atLineStart && isWordByte(bytes[from - 1] as number))
  const end = bytes.length
  for (let at = from; at < end; at++) {
    at = automata.runForward(dfa, bytes, at, end, deadline)
    if (at === end) break
    const column = columns[bytes[at] as number] as number
    const next = automata.lookUp(dfa, cursors[0] as number, column, deadline)
    if (next === STOP) return ~(at + 1)
    if (next < 0) return at
    cursors[0] = next
  }
  return automata.lookUp(dfa, cursors[0] as number, endColumn, deadline) === STOP ? ~end : end
}

/** The same for a run that ends after a few bytes within the known part of the table, as most do; otherwise `undefined`. */
export function resumeShortly(
  automata: Automata,
  bytes: Uint8Array,
  from: number,
  atLineStart: boolean,
): number | undefined {
  const { rest: dfa, cursors } = automata
  cursors[0] = dfa.start(atLineStart, !atLineStart && isWordByte(bytes[from - 1] as number))
  // Read after `start`, which may replace the table.
  const { columns, table } = dfa
  const pause = Math.min(bytes.length, from + SHORT_RUN)
  const at = runForward(table, columns, bytes, from, pause, cursors)
  automata.bytesRead += at - from
  if (at === pause) return undefined
  const next = table[(cursors[0] as number) + (columns[bytes[at] as number] as number)] as number
  return next === UNKNOWN ? undefined : next === STOP ? ~(at + 1) : at
}
