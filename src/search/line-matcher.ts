import { Automata, type Simulations, tooManyStates } from './automata.ts'
import { type Deadline, throwIfPast } from './deadline.ts'
import { NOT_KNOWN } from './dfa-run.ts'
import { hasMatch, resumeFrom, resumeShortly, scanFrom } from './forward-scan.ts'
import { lineEndBefore, lineFeedAt } from './line-bounds.ts'
import { findMatchEnd, findMatchStart, knownMatchEnd, knownMatchStart } from './match-bounds.ts'
import { buildNfa } from './nfa.ts'
import type { SimulationOptions } from './simulation.ts'
import type { Node } from './syntax.ts'

const FIRST_ANYWHERE: SimulationOptions = { anywhere: true, stop: 'first' }
const LAST_ANYWHERE: SimulationOptions = { anywhere: true, stop: 'last' }
const LAST_FROM_START: SimulationOptions = { anywhere: false, stop: 'last' }

/**
 * Runs a regular expression over lines, each byte at most a few times for every pattern. DFAs are built as far as texts
 * lead them. Where they get too large, simulation takes over; a match then ends where the longest one from its start does.
 * Every method may throw `deadlineReached`.
 */
export class LineMatcher {
  private readonly automata: Automata

  /**
   * @param memory - approximate limit for the states of each automaton, in bytes
   * @throws ToolError `INVALID_PATTERN` if the pattern is too large.
   */
  constructor(root: Node, memory = 8 << 20) {
    this.automata = new Automata(buildNfa(root), memory)
  }

  /** Whether some line from `from` on matches. `from` must start a line. */
  exists(bytes: Uint8Array, from: number, deadline: Deadline | undefined): boolean {
    return this.orSimulate(
      () => hasMatch(this.automata, bytes, from, deadline),
      (simulations) => simulateScan(simulations, bytes, from, deadline) !== -1,
    )
  }

  /** The offset in, or at the end of, the first matching line from `from` on, or -1. `from` must start a line. */
  scan(bytes: Uint8Array, from: number, deadline: Deadline | undefined): number {
    return this.orSimulate(
      () => scanFrom(this.automata, bytes, from, deadline),
      (simulations) => simulateScan(simulations, bytes, from, deadline),
    )
  }

  /**
   * Looks for a match from an offset inside a line to the end of the line. Returns an offset in the line, or at its end,
   * if there is one; otherwise `~` of the offset where the run stopped because no match was in progress.
   */
  resume(bytes: Uint8Array, from: number, atLineStart: boolean, deadline: Deadline | undefined): number {
    if (this.automata.simulations === undefined) {
      const at = resumeShortly(this.automata, bytes, from, atLineStart)
      if (at !== undefined) return at
    }
    return this.orSimulate(
      () => resumeFrom(this.automata, bytes, from, atLineStart, deadline),
      (simulations) => simulateResume(simulations, bytes, from, atLineStart, deadline),
    )
  }

  /** Where the leftmost match in a line ends, or -1. */
  matchEnd(bytes: Uint8Array, lineStart: number, lineEnd: number, deadline: Deadline | undefined): number {
    if (this.automata.simulations === undefined) {
      const end = knownMatchEnd(this.automata, bytes, lineStart, lineEnd)
      if (end !== NOT_KNOWN) return end
    }
    return this.orSimulate(
      () => findMatchEnd(this.automata, bytes, lineStart, lineEnd, deadline),
      ({ forward, backward }) => {
        const line = { lineStart, lineEnd }
        const tick = (): void => throwIfPast(deadline)
        const start = backward.run(bytes, line, lineStart, lineEnd, LAST_ANYWHERE, tick)
        return start === -1 ? -1 : forward.run(bytes, line, start, lineEnd, LAST_FROM_START, tick)
      },
    )
  }

  /** Where the match that ends at `end` starts. */
  matchStart(
    bytes: Uint8Array,
    lineStart: number,
    lineEnd: number,
    end: number,
    deadline: Deadline | undefined,
  ): number {
    if (this.automata.simulations === undefined) {
      const start = knownMatchStart(this.automata, bytes, lineStart, lineEnd, end)
      if (start !== NOT_KNOWN) return start
    }
    return this.orSimulate(
      () => findMatchStart(this.automata, bytes, lineStart, lineEnd, end, deadline),
      ({ backward }) => {
        const tick = (): void => throwIfPast(deadline)
        return backward.run(bytes, { lineStart, lineEnd }, lineStart, end, LAST_FROM_START, tick)
      },
    )
  }

  private orSimulate<T>(run: () => T, simulate: (simulations: Simulations) => T): T {
    const { automata } = this
    if (automata.simulations !== undefined) return simulate(automata.simulations)
    try {
      return run()
    } catch (error) {
      if (error === tooManyStates && automata.simulations !== undefined) return simulate(automata.simulations)
      throw error
    }
  }
}

function simulateScan(
  { forward }: Simulations,
  bytes: Uint8Array,
  from: number,
  deadline: Deadline | undefined,
): number {
  const tick = (): void => throwIfPast(deadline)
  for (let lineStart = from; lineStart < bytes.length; ) {
    const lineFeed = lineFeedAt(bytes, lineStart)
    const line = { lineStart, lineEnd: lineEndBefore(bytes, lineStart, lineFeed) }
    const at = forward.run(bytes, line, lineStart, line.lineEnd, FIRST_ANYWHERE, tick)
    if (at !== -1) return at
    lineStart = lineFeed + 1
  }
  return -1
}

function simulateResume(
  { forward }: Simulations,
  bytes: Uint8Array,
  from: number,
  atLineStart: boolean,
  deadline: Deadline | undefined,
): number {
  const lineStart = atLineStart ? from : from - 1
  const lineFeed = lineFeedAt(bytes, from)
  const line = { lineStart, lineEnd: lineEndBefore(bytes, lineStart, lineFeed) }
  const at = forward.run(bytes, line, from, line.lineEnd, FIRST_ANYWHERE, () => throwIfPast(deadline))
  return at === -1 ? ~Math.min(lineFeed + 1, bytes.length) : at
}
