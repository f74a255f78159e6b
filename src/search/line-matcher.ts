import { createDfa, DEAD, type Dfa, isWordByte, STOP, UNKNOWN } from './dfa.ts'
import { NOT_KNOWN, runBackward, runForward, runFour, runToFirstStart, runToLastEnd } from './dfa-run.ts'
import { lineEndBefore, lineFeedAt } from './line-bounds.ts'
import { buildNfa, reverseNfa } from './nfa.ts'
import { createSimulation, type Simulation } from './simulation.ts'
import type { Node } from './syntax.ts'

/** Says whether the time is up. */
export type Deadline = () => boolean

/** Thrown through the loops where the deadline passed; caught in `query.ts`, never seen outside. */
export const deadlineReached = Symbol('time is up')

/** Runs a regular expression over lines: each byte a few times at most, whatever the pattern. Each may throw `deadlineReached`. */
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

/**
 * Throws `INVALID_PATTERN` where the pattern is too large. Its automata are built as far as texts lead them; where that is
 * too far, the work goes on by simulation, in which the end of a match is that of the longest one from its start.
 * `memory` is what the states of each automaton may take, in bytes, about.
 */
export function createLineMatcher(root: Node, memory = 8 << 20): LineMatcher {
  const nfa = buildNfa(root)
  let lines: Dfa | undefined
  let rest: Dfa | undefined
  let first: Dfa | undefined
  let longest: Dfa | undefined
  let computed = 0
  const cursors = new Int32Array(4)

  // What was run over and made when states were last dropped.
  let ran = 0
  let ranBefore = 0
  let madeBefore = 0
  let simulations: { forward: Simulation; backward: Simulation } | undefined | 'impossible'

  return {
    exists: (bytes, from, deadline) =>
      orSimulate(
        () => exists(bytes, from, deadline),
        (simulation) => simulateScan(simulation, bytes, from, deadline) !== -1,
      ),
    scan: (bytes, from, deadline) =>
      orSimulate(
        () => scan(bytes, from, deadline),
        (simulation) => simulateScan(simulation, bytes, from, deadline),
      ),
    resume(bytes, from, atLineStart, deadline) {
      if (rest !== undefined && typeof simulations !== 'object') {
        const at = resumeShortly(rest, bytes, from, atLineStart)
        if (at !== undefined) return at
      }
      return orSimulate(
        () => resume(bytes, from, atLineStart, deadline),
        ({ forward }) => {
          const lineStart = atLineStart ? from : from - 1
          const lineFeed = lineFeedAt(bytes, from)
          const line = { lineStart, lineEnd: lineEndBefore(bytes, lineStart, lineFeed) }
          const at = forward.run(bytes, line, from, line.lineEnd, ANYWHERE_FIRST, ticker(deadline))
          return at === -1 ? ~Math.min(lineFeed + 1, bytes.length) : at
        },
      )
    },
    matchEnd(bytes, lineStart, lineEnd, deadline) {
      if (first !== undefined && typeof simulations !== 'object' && lineEnd - lineStart < STRETCH) {
        const start = first.start(true, false)
        const { columns, endColumn } = first
        const end = runToLastEnd(first.table(), columns, endColumn, bytes, lineStart, lineEnd, start)
        if (end !== NOT_KNOWN) return end
      }
      return orSimulate(
        () => matchEnd(bytes, lineStart, lineEnd, deadline),
        ({ forward, backward }) => {
          const line = { lineStart, lineEnd }
          const start = backward.run(bytes, line, lineStart, lineEnd, ANYWHERE_LAST, ticker(deadline))
          return start === -1 ? -1 : forward.run(bytes, line, start, lineEnd, HERE_LAST, ticker(deadline))
        },
      )
    },
    matchStart(bytes, lineStart, lineEnd, end, deadline) {
      if (longest !== undefined && typeof simulations !== 'object' && end - lineStart < STRETCH) {
        const begin = longest.start(end === lineEnd, end < lineEnd && isWordByte(bytes[end] as number))
        const { columns, endColumn } = longest
        const start = runToFirstStart(longest.table(), columns, endColumn, bytes, end, lineStart, begin)
        if (start !== NOT_KNOWN) return start
      }
      return orSimulate(
        () => matchStart(bytes, lineStart, lineEnd, end, deadline),
        ({ backward }) => backward.run(bytes, { lineStart, lineEnd }, lineStart, end, HERE_LAST, ticker(deadline)),
      )
    },
  }

  /** Most runs end after some bytes, by ways that the table knows; `undefined` for the others. */
  function resumeShortly(dfa: Dfa, bytes: Uint8Array, from: number, atLineStart: boolean): number | undefined {
    const { columns } = dfa
    cursors[0] = dfa.start(atLineStart, !atLineStart && isWordByte(bytes[from - 1] as number))
    const pause = Math.min(bytes.length, from + SHORT)
    const table = dfa.table()
    const at = runForward(table, columns, bytes, from, pause, cursors)
    ran += at - from
    if (at === pause) return undefined
    const next = table[(cursors[0] as number) + (columns[bytes[at] as number] as number)] as number
    return next === UNKNOWN ? undefined : next === STOP ? ~(at + 1) : at
  }

  function orSimulate<T>(run: () => T, simulate: (simulation: { forward: Simulation; backward: Simulation }) => T): T {
    if (typeof simulations === 'object') return simulate(simulations)
    try {
      return run()
    } catch (error) {
      if (error === tooManyStates && typeof simulations === 'object') return simulate(simulations)
      throw error
    }
  }

  /** Goes over to simulation, for good, where states are made nearly as fast as bytes are read. */
  function checkGrowth(made: number): void {
    const thrashes = ran - ranBefore < BYTES_PER_STATE * (made - madeBefore)
    ranBefore = ran
    madeBefore = made
    if (!thrashes || simulations !== undefined) return
    const forward = createSimulation(nfa, false)
    const backward = forward === undefined ? undefined : createSimulation(reverseNfa(nfa), true)
    simulations = forward === undefined || backward === undefined ? 'impossible' : { forward, backward }
    if (typeof simulations === 'object') throw tooManyStates
  }

  function simulateScan(
    { forward }: { forward: Simulation },
    bytes: Uint8Array,
    from: number,
    deadline: Deadline | undefined,
  ): number {
    const tick = ticker(deadline)
    for (let lineStart = from; lineStart < bytes.length; ) {
      const lineFeed = lineFeedAt(bytes, lineStart)
      const line = { lineStart, lineEnd: lineEndBefore(bytes, lineStart, lineFeed) }
      const at = forward.run(bytes, line, lineStart, line.lineEnd, ANYWHERE_FIRST, tick)
      if (at !== -1) return at
      lineStart = lineFeed + 1
    }
    return -1
  }

  function exists(bytes: Uint8Array, from: number, deadline: Deadline | undefined): boolean {
    if (bytes.length - from < WORTH_SPLITTING) return scan(bytes, from, deadline) !== -1
    lines ??= createDfa(nfa, 'lines', memory)
    const dfa = lines
    const { columns } = dfa
    const quarter = (bytes.length - from) >> 2
    const second = lineFeedAt(bytes, from + quarter) + 1
    const third = lineFeedAt(bytes, Math.max(second, from + 2 * quarter)) + 1
    const fourth = lineFeedAt(bytes, Math.max(third, from + 3 * quarter)) + 1
    if (fourth >= bytes.length) return scan(bytes, from, deadline) !== -1
    const begins = [from, second, third, fourth]
    const places: [number, number, number, number] = [from, second, third, fourth]
    const ends = [second, third, fourth, bytes.length]
    const shortest = Math.min(second - from, third - second, fourth - third, bytes.length - fourth)
    cursors.fill(dfa.start(true, false))
    const drops = dfa.drops()
    for (let done = 0; done < shortest; ) {
      const steps = runFour(dfa.table(), columns, bytes, places, Math.min(STRETCH, shortest - done), cursors)
      done += steps
      ran += 4 * steps
      for (let i = 0; i < 4; i++) places[i] = (places[i] as number) + steps
      if (deadline?.()) throw deadlineReached
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
          ? scanLines(dfa, bytes, begins[i] as number, ends[i] as number, dfa.start(true, false), deadline)
          : scanLines(dfa, bytes, places[i] as number, ends[i] as number, cursor, deadline)
      if (at !== -1) return true
    }
    return false
  }

  function scan(bytes: Uint8Array, from: number, deadline: Deadline | undefined): number {
    if (from >= bytes.length) return -1
    lines ??= createDfa(nfa, 'lines', memory)
    return scanLines(lines, bytes, from, bytes.length, lines.start(true, false), deadline)
  }

  /** Runs over whole lines, or what is left of the first and then whole ones: nothing may be, and its end still to come. */
  function scanLines(
    dfa: Dfa,
    bytes: Uint8Array,
    from: number,
    to: number,
    cursor: number,
    deadline: Deadline | undefined,
  ): number {
    const { columns, endColumn } = dfa
    cursors[0] = cursor
    for (let at = from; at < to; ) {
      const pause = Math.min(to, at + STRETCH)
      const began = at
      at = runForward(dfa.table(), columns, bytes, at, pause, cursors)
      ran += at - began
      if (at === pause) {
        if (at < to && deadline?.()) throw deadlineReached
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
    rest ??= createDfa(nfa, 'rest', memory)
    const dfa = rest
    const { columns, endColumn } = dfa
    cursors[0] = dfa.start(atLineStart, !atLineStart && isWordByte(bytes[from - 1] as number))
    const end = bytes.length
    for (let at = from; at < end; ) {
      const pause = Math.min(end, at + STRETCH)
      const began = at
      at = runForward(dfa.table(), columns, bytes, at, pause, cursors)
      ran += at - began
      if (at === pause) {
        if (at < end && deadline?.()) throw deadlineReached
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
    first ??= createDfa(nfa, 'first', memory)
    const dfa = first
    const { columns, endColumn } = dfa
    cursors[0] = dfa.start(true, false)
    let found = -1
    for (let at = lineStart; at < lineEnd; ) {
      const pause = Math.min(lineEnd, at + STRETCH)
      const began = at
      at = runForward(dfa.table(), columns, bytes, at, pause, cursors)
      ran += at - began
      if (at === pause) {
        if (at < lineEnd && deadline?.()) throw deadlineReached
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
    longest ??= createDfa(reverseNfa(nfa), 'longest', memory)
    const dfa = longest
    const { columns, endColumn } = dfa
    cursors[0] = dfa.start(end === lineEnd, end < lineEnd && isWordByte(bytes[end] as number))
    let found = end
    for (let at = end - 1; at >= lineStart; ) {
      const pause = Math.max(lineStart, at - STRETCH)
      const began = at
      at = runBackward(dfa.table(), columns, bytes, at, pause, cursors)
      ran += began - at
      if (at === pause - 1) {
        if (at >= lineStart && deadline?.()) throw deadlineReached
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
    if ((computed & 127) === 0 && deadline?.()) throw deadlineReached
    const drops = dfa.drops()
    const value = dfa.compute(cursor, column)
    if (dfa.drops() !== drops) checkGrowth(computed)
    return value
  }
}

/** Thrown where simulation must take over; caught in this file. */
const tooManyStates = Symbol('too many states')

const ANYWHERE_FIRST = { anywhere: true, stop: 'first' } as const
const ANYWHERE_LAST = { anywhere: true, stop: 'last' } as const
const HERE_LAST = { anywhere: false, stop: 'last' } as const

function ticker(deadline: Deadline | undefined): () => void {
  return () => {
    if (deadline?.()) throw deadlineReached
  }
}

const LF = 0x0a
/** A new state is as dear as this many bytes of simulation, about. */
const BYTES_PER_STATE = 20
/** Bytes between two questions for the deadline. */
const STRETCH = 1 << 16
/** What is longer may as well begin again. */
const SHORT = 256
/** Below this, finding four beginnings costs more than running from them saves. */
const WORTH_SPLITTING = 512
