import { DEAD, STOP, UNKNOWN } from './dfa.ts'

/**
 * The hot loops over a DFA's table. Each is a function of its own, over locals, with one way out: engines compile these
 * early and well, which is what the first search feels. They stop where the table has something else than a cursor, before
 * that byte, and leave the cursor in `cursors[0]`.
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

/** The same from `from` down to `to`, both included; gives the offset of the byte it stopped before, or `to - 1`. */
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
 * A whole run over a stretch as far as the table knows it: where the last match in `[from, to)` ends, -1 for none, or
 * {@link NOT_KNOWN}. `to` is the end of a line.
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
  let found = -1
  for (let at = from; at < to; at++) {
    const next = table[cursor + (columns[bytes[at] as number] as number)] as number
    if (next >= 0) {
      cursor = next
      continue
    }
    if (next === STOP) return found
    if (next === UNKNOWN) return NOT_KNOWN
    found = at
    cursor = ~next
    if (cursor === DEAD) return found
  }
  const last = table[cursor + endColumn] as number
  return last === UNKNOWN ? NOT_KNOWN : last === STOP ? found : to
}

/** The same backwards from `from` (left out) to `to`, the start of a line: where the longest match begins that ends at `from`. */
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
  let found = from
  for (let at = from - 1; at >= to; at--) {
    const next = table[cursor + (columns[bytes[at] as number] as number)] as number
    if (next >= 0) {
      cursor = next
      continue
    }
    if (next === STOP) return found
    if (next === UNKNOWN) return NOT_KNOWN
    found = at + 1
    cursor = ~next
    if (cursor === DEAD) return found
  }
  const last = table[cursor + endColumn] as number
  return last === UNKNOWN ? NOT_KNOWN : last === STOP ? found : to
}

/** The table must be computed further for an answer. */
export const NOT_KNOWN = -2

/**
 * Four runs side by side, `steps` bytes each, from four places with four cursors; gives the steps made before one of them
 * met something else than a cursor. A run waits for each look-up before it can make the next, and four of them wait
 * together: twice to three times as fast as one after the other.
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
