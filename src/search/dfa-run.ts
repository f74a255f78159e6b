import { DEAD, STOP, UNKNOWN } from './dfa.ts'

// The hot loops over the table of a DFA. Each is a function over locals with one exit: engines compile such functions
// early and well, which speeds up the first search.

/**
 * Runs over `bytes[from, to)`. Stops before the first byte for which the table holds no cursor, and returns its offset.
 * The cursor is read from and left in `cursors[0]`.
 */
export function runForward(
  table: Int32Array,
  columns: Uint8Array,
  bytes: Uint8Array,
  from: number,
  to: number,
  cursors: Int32Array,
): number {
  let cursor = cursors[0] as number
  let at = from
  while (at < to) {
    const next = table[cursor + (columns[bytes[at] as number] as number)] as number
    if (next < 0) break
    cursor = next
    at++
  }
  cursors[0] = cursor
  return at
}

/** The same from `from` down to `to`, both inclusive. Returns the offset of the byte it stopped before, or `to - 1`. */
export function runBackward(
  table: Int32Array,
  columns: Uint8Array,
  bytes: Uint8Array,
  from: number,
  to: number,
  cursors: Int32Array,
): number {
  let cursor = cursors[0] as number
  let at = from
  while (at >= to) {
    const next = table[cursor + (columns[bytes[at] as number] as number)] as number
    if (next < 0) break
    cursor = next
    at--
  }
  cursors[0] = cursor
  return at
}

/**
 * Runs over `bytes[from, to)`, where `to` is the end of a line. Returns where the last match ends, -1 without a match, or
 * {@link NOT_KNOWN} if the table lacks an entry.
 */
export function runToLastEnd(
  table: Int32Array,
  columns: Uint8Array,
  endColumn: number,
  bytes: Uint8Array,
  from: number,
  to: number,
  start: number,
): number {
  let cursor = start
  let matchEnd = -1
  for (let at = from; at < to; at++) {
    const next = table[cursor + (columns[bytes[at] as number] as number)] as number
    if (next >= 0) {
      cursor = next
      continue
    }
    if (next === STOP) return matchEnd
    if (next === UNKNOWN) return NOT_KNOWN
    matchEnd = at
    cursor = ~next
    if (cursor === DEAD) return matchEnd
  }
  const last = table[cursor + endColumn] as number
  return last === UNKNOWN ? NOT_KNOWN : last === STOP ? matchEnd : to
}

/**
 * The same backwards from `from` (exclusive) to `to`, the start of a line. Returns where the longest match that ends at
 * `from` begins.
 */
export function runToFirstStart(
  table: Int32Array,
  columns: Uint8Array,
  endColumn: number,
  bytes: Uint8Array,
  from: number,
  to: number,
  start: number,
): number {
  let cursor = start
  let matchStart = from
  for (let at = from - 1; at >= to; at--) {
    const next = table[cursor + (columns[bytes[at] as number] as number)] as number
    if (next >= 0) {
      cursor = next
      continue
    }
    if (next === STOP) return matchStart
    if (next === UNKNOWN) return NOT_KNOWN
    matchStart = at + 1
    cursor = ~next
    if (cursor === DEAD) return matchStart
  }
  const last = table[cursor + endColumn] as number
  return last === UNKNOWN ? NOT_KNOWN : last === STOP ? matchStart : to
}

/** The table lacks an entry that decides the result. */
export const NOT_KNOWN = -2

/**
 * Runs from four offsets in parallel, at most `steps` bytes each, with four cursors. Returns the number of steps before
 * the table holds no cursor for one of them. Each look-up depends on the one before it, so a single run waits for memory;
 * four interleaved runs overlap these waits and take a half to a third of the time.
 */
export function runFour(
  table: Int32Array,
  columns: Uint8Array,
  bytes: Uint8Array,
  from: readonly [number, number, number, number],
  steps: number,
  cursors: Int32Array,
): number {
  const fromA = from[0]
  const fromB = from[1]
  const fromC = from[2]
  const fromD = from[3]
  let a = cursors[0] as number
  let b = cursors[1] as number
  let c = cursors[2] as number
  let d = cursors[3] as number
  let step = 0
  while (step < steps) {
    const nextA = table[a + (columns[bytes[fromA + step] as number] as number)] as number
    const nextB = table[b + (columns[bytes[fromB + step] as number] as number)] as number
    const nextC = table[c + (columns[bytes[fromC + step] as number] as number)] as number
    const nextD = table[d + (columns[bytes[fromD + step] as number] as number)] as number
    if ((nextA | nextB | nextC | nextD) < 0) break
    a = nextA
    b = nextB
    c = nextC
    d = nextD
    step++
  }
  cursors[0] = a
  cursors[1] = b
  cursors[2] = c
  cursors[3] = d
  return step
}
