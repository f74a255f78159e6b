import type { Automata } from './automata.ts'
import { DEADLINE_INTERVAL, type Deadline, throwIfPast } from './deadline.ts'
import { DEAD, STOP } from './dfa.ts'
import { NOT_KNOWN, runBackward, runToFirstStart, runToLastEnd } from './dfa-run.ts'
import { isWordByte } from './word-byte.ts'

/** Where the leftmost match in a line ends, or -1; {@link NOT_KNOWN} if the table lacks an entry or the line is long. */
export function knownMatchEnd({ first }: Automata, bytes: Uint8Array, lineStart: number, lineEnd: number): number {
  if (lineEnd - lineStart >= DEADLINE_INTERVAL) return NOT_KNOWN
  const start = first.start(true, false)
  return runToLastEnd(first.table, first.columns, first.endColumn, bytes, lineStart, lineEnd, start)
}

/** Where the leftmost match in a line ends, or -1. Throws `deadlineReached`. */
export function findMatchEnd(
  automata: Automata,
  bytes: Uint8Array,
  lineStart: number,
  lineEnd: number,
  deadline: Deadline | undefined,
): number {
  const { first: dfa, cursors } = automata
  const { columns, endColumn } = dfa
  cursors[0] = dfa.start(true, false)
  let matchEnd = -1
  for (let at = lineStart; at < lineEnd; at++) {
    at = automata.runForward(dfa, bytes, at, lineEnd, deadline)
    if (at === lineEnd) break
    const column = columns[bytes[at] as number] as number
    let next = automata.lookUp(dfa, cursors[0] as number, column, deadline)
    if (next === STOP) return matchEnd
    if (next < 0) {
      matchEnd = at
      next = ~next
      if (next === DEAD) return matchEnd
    }
    cursors[0] = next
  }
  return automata.lookUp(dfa, cursors[0] as number, endColumn, deadline) === STOP ? matchEnd : lineEnd
}

/** Where the longest match that ends at `end` begins; {@link NOT_KNOWN} if the table lacks an entry or the way is long. */
export function knownMatchStart(
  { longest }: Automata,
  bytes: Uint8Array,
  lineStart: number,
  lineEnd: number,
  end: number,
): number {
  if (end - lineStart >= DEADLINE_INTERVAL) return NOT_KNOWN
  const start = longest.start(end === lineEnd, end < lineEnd && isWordByte(bytes[end] as number))
  return runToFirstStart(longest.table, longest.columns, longest.endColumn, bytes, end, lineStart, start)
}

/** Where the longest match that ends at `end` begins. Throws `deadlineReached`. */
export function findMatchStart(
  automata: Automata,
  bytes: Uint8Array,
  lineStart: number,
  lineEnd: number,
  end: number,
  deadline: Deadline | undefined,
): number {
  const { longest: dfa, cursors } = automata
  const { columns, endColumn } = dfa
  cursors[0] = dfa.start(end === lineEnd, end < lineEnd && isWordByte(bytes[end] as number))
  let matchStart = end
  for (let at = end - 1; at >= lineStart; ) {
    const pause = Math.max(lineStart, at - DEADLINE_INTERVAL)
    const stop = runBackward(dfa.table, columns, bytes, at, pause, cursors)
    automata.bytesRead += at - stop
    at = stop
    if (at === pause - 1) {
      if (at >= lineStart) throwIfPast(deadline)
      continue
    }
    const column = columns[bytes[at] as number] as number
    let next = automata.lookUp(dfa, cursors[0] as number, column, deadline)
    if (next === STOP) return matchStart
    if (next < 0) {
      matchStart = at + 1
      next = ~next
      if (next === DEAD) return matchStart
    }
    cursors[0] = next
    at -= 1
  }
  return automata.lookUp(dfa, cursors[0] as number, endColumn, deadline) === STOP ? matchStart : lineStart
}
