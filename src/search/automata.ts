import { DEADLINE_INTERVAL, type Deadline, deadlineReached, throwIfPast } from './deadline.ts'
import { Dfa, UNKNOWN } from './dfa.ts'
import { runForward } from './dfa-run.ts'
import type { Goal } from './dfa-step.ts'
import { type Nfa, reverseNfa } from './nfa.ts'
import { createSimulation, type Simulation } from './simulation.ts'

/** Simulations of a pattern, for when its DFAs do not fit in memory. */
export interface Simulations {
  readonly forward: Simulation
  readonly backward: Simulation
}

/** A new state costs about as much time as simulating this many bytes. */
const BYTES_PER_STATE = 20

/** Thrown by {@link Automata.lookUp} where simulation must take over. */
export const tooManyStates = Symbol('too many states')

/** The DFAs of a pattern, each created when first used, and the decision when to replace them by simulation. */
export class Automata {
  /** The cursors of a run; of one that is alone, the first. */
  readonly cursors = new Int32Array(4)
  /** Bytes that DFAs have read so far. */
  bytesRead = 0
  /** Defined once the DFAs turned out to grow too fast. */
  simulations: Simulations | undefined

  private readonly nfa: Nfa
  private readonly memory: number
  private linesDfa: Dfa | undefined
  private restDfa: Dfa | undefined
  private firstDfa: Dfa | undefined
  private longestDfa: Dfa | undefined
  private cannotSimulate = false
  /** Transitions computed so far. */
  private computed = 0
  // As they were when states were last dropped.
  private bytesReadBefore = 0
  private computedBefore = 0

  constructor(nfa: Nfa, memory: number) {
    this.nfa = nfa
    this.memory = memory
  }

  get lines(): Dfa {
    this.linesDfa ??= this.createDfa('lines')
    return this.linesDfa
  }

  get rest(): Dfa {
    this.restDfa ??= this.createDfa('rest')
    return this.restDfa
  }

  get first(): Dfa {
    this.firstDfa ??= this.createDfa('first')
    return this.firstDfa
  }

  /** Reads backwards from the end of a match. */
  get longest(): Dfa {
    this.longestDfa ??= new Dfa(reverseNfa(this.nfa), 'longest', this.memory)
    return this.longestDfa
  }

  /**
   * Runs from the first cursor to the first byte before `to` where the table holds no cursor; returns its offset, or `to`.
   * Throws `deadlineReached`.
   */
  runForward(dfa: Dfa, bytes: Uint8Array, from: number, to: number, deadline: Deadline | undefined): number {
    const { table, columns } = dfa
    for (let start = from; ; ) {
      const pause = Math.min(to, start + DEADLINE_INTERVAL)
      const at = runForward(table, columns, bytes, start, pause, this.cursors)
      this.bytesRead += at - start
      if (at < pause || at === to) return at
      throwIfPast(deadline)
      start = at
    }
  }

  /**
   * An entry of the table, computed if it is unknown. Throws `deadlineReached`, because computing costs as much as reading
   * many bytes, and {@link tooManyStates}.
   */
  lookUp(dfa: Dfa, cursor: number, column: number, deadline: Deadline | undefined): number {
    const entry = dfa.table[cursor + column] as number
    if (entry !== UNKNOWN) return entry
    this.computed += 1
    if ((this.computed & 127) === 0 && deadline?.()) throw deadlineReached
    const { drops } = dfa
    const value = dfa.compute(cursor, column)
    if (dfa.drops !== drops) this.checkGrowth()
    return value
  }

  private createDfa(goal: Goal): Dfa {
    return new Dfa(this.nfa, goal, this.memory)
  }

  /** Switches to simulation, for good, if states are created nearly as fast as bytes are read. */
  private checkGrowth(): void {
    const thrashes = this.bytesRead - this.bytesReadBefore < BYTES_PER_STATE * (this.computed - this.computedBefore)
    this.bytesReadBefore = this.bytesRead
    this.computedBefore = this.computed
    if (!thrashes || this.cannotSimulate || this.simulations !== undefined) return
    const forward = createSimulation(this.nfa, false)
    const backward = forward === undefined ? undefined : createSimulation(reverseNfa(this.nfa), true)
    this.cannotSimulate = forward === undefined || backward === undefined
    if (forward === undefined || backward === undefined) return
    this.simulations = { forward, backward }
    throw tooManyStates
  }
}
