import { createDfa, DEAD, type Dfa, isWordByte, UNKNOWN } from './dfa.ts'
import { buildNfa, type Nfa, reverseNfa } from './nfa.ts'
import type { Node } from './syntax.ts'

/** Says whether the time is up. */
export type Deadline = () => boolean

/** Thrown through the loops where the deadline passed; caught in `query.ts`, never seen outside. */
export const timeIsUp = Symbol('time is up')

/** Runs a regular expression over lines, each byte at most three times, whatever the pattern. */
export interface LineMatcher {
  /** An offset in, or at the end of, the first line from `from` on that matches, or -1. `from` must start a line. */
  scan(bytes: Uint8Array, from: number, deadline: Deadline | undefined): number
  /** Where the leftmost match in a line ends, or -1. */
  matchEnd(bytes: Uint8Array, lineStart: number, lineEnd: number, deadline: Deadline | undefined): number
  /** Where the match starts that ends at `matchEnd`. */
  matchStart(
    bytes: Uint8Array,
    lineStart: number,
    lineEnd: number,
    matchEnd: number,
    deadline: Deadline | undefined,
  ): number
}

/** Throws `INVALID_PATTERN` where the pattern is too large. Its automata are built as far as texts lead them. */
export function createLineMatcher(root: Node): LineMatcher {
  const nfa: Nfa = buildNfa(root)
  let scanner: Dfa | undefined
  let forward: Dfa | undefined
  let backward: Dfa | undefined
  let computed = 0

  return {
    scan(bytes, from, deadline) {
      scanner ??= createDfa(nfa, { find: 'any' })
      const { columns, endColumn } = scanner
      let cursor = scanner.start(true, false)
      let table = scanner.table()
      const end = bytes.length
      for (let at = from; at < end; ) {
        const pause = Math.min(end, at + STRETCH)
        for (; at < pause; at++) {
          const column = columns[bytes[at] as number] as number
          let next = table[cursor + column] as number
          if (next < 0) {
            if (next !== UNKNOWN) return at
            next = computeNext(scanner, cursor, column, deadline)
            if (next < 0) return at
            table = scanner.table()
          }
          cursor = next
        }
        if (deadline?.()) throw timeIsUp
      }
      if (from >= end || bytes[end - 1] === LF) return -1
      return lookUp(scanner, cursor, endColumn, deadline) < 0 ? end : -1
    },

    matchEnd(bytes, lineStart, lineEnd, deadline) {
      forward ??= createDfa(nfa, { find: 'first' })
      const { columns, endColumn } = forward
      let cursor = forward.start(true, false)
      let table = forward.table()
      let found = -1
      for (let at = lineStart; at < lineEnd; ) {
        const pause = Math.min(lineEnd, at + STRETCH)
        for (; at < pause; at++) {
          const column = columns[bytes[at] as number] as number
          let next = table[cursor + column] as number
          if (next < 0) {
            if (next === UNKNOWN) {
              next = computeNext(forward, cursor, column, deadline)
              table = forward.table()
            }
            if (next < 0) {
              found = at
              next = ~next
            }
          }
          if (next === DEAD) return found
          cursor = next
        }
        if (at < lineEnd && deadline?.()) throw timeIsUp
      }
      return lookUp(forward, cursor, endColumn, deadline) < 0 ? lineEnd : found
    },

    matchStart(bytes, lineStart, lineEnd, matchEnd, deadline) {
      backward ??= createDfa(reverseNfa(nfa), { find: 'longest' })
      const { columns, endColumn } = backward
      let cursor = backward.start(matchEnd === lineEnd, matchEnd < lineEnd && isWordByte(bytes[matchEnd] as number))
      let table = backward.table()
      let found = matchEnd
      for (let at = matchEnd - 1; at >= lineStart; ) {
        const pause = Math.max(lineStart, at - STRETCH)
        for (; at >= pause; at--) {
          const column = columns[bytes[at] as number] as number
          let next = table[cursor + column] as number
          if (next < 0) {
            if (next === UNKNOWN) {
              next = computeNext(backward, cursor, column, deadline)
              table = backward.table()
            }
            if (next < 0) {
              found = at + 1
              next = ~next
            }
          }
          if (next === DEAD) return found
          cursor = next
        }
        if (at >= lineStart && deadline?.()) throw timeIsUp
      }
      return lookUp(backward, cursor, endColumn, deadline) < 0 ? lineStart : found
    },
  }

  function lookUp(dfa: Dfa, cursor: number, column: number, deadline: Deadline | undefined): number {
    const next = dfa.table()[cursor + column] as number
    return next === UNKNOWN ? computeNext(dfa, cursor, column, deadline) : next
  }

  /** Making a state costs as much as running over many bytes, so the deadline is asked for here too. */
  function computeNext(dfa: Dfa, cursor: number, column: number, deadline: Deadline | undefined): number {
    computed += 1
    if ((computed & 127) === 0 && deadline?.()) throw timeIsUp
    return dfa.compute(cursor, column)
  }
}

const LF = 0x0a
/** Bytes between two questions for the deadline. */
const STRETCH = 1 << 16
