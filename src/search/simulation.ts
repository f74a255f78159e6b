import { shiftBits } from './bit-set.ts'
import type { Nfa } from './nfa.ts'
import { OrderedSet } from './ordered-set.ts'
import {
  buildTables,
  EDGE_AHEAD,
  EDGE_BEHIND,
  follow,
  type Moves,
  NO_CONDITION,
  NOT_WORD,
  type Shift,
  type SimulationTables,
  WORD,
} from './simulation-tables.ts'
import { isWordByte } from './word-byte.ts'

/** The bounds of a line, without its line end. */
export interface LineRange {
  readonly lineStart: number
  readonly lineEnd: number
}

export interface SimulationOptions {
  /** A match may begin at every byte, not only where the run begins. */
  readonly anywhere: boolean
  /** Which end of a match to return: the first that the run meets, or the last. */
  readonly stop: 'first' | 'last'
}

/** Returns `undefined` where the tables would take more than a few megabytes. `backwards` is for a reversed NFA. */
export function createSimulation(nfa: Nfa, backwards: boolean): Simulation | undefined {
  const tables = buildTables(nfa)
  return tables === undefined ? undefined : new Simulation(tables, backwards)
}

/** Work between two ticks: 4,096 bytes, fewer where a byte costs more than one step. */
const TICK = 4096

/**
 * Runs an NFA directly, with all of its states as bits of a few words: for patterns whose DFA needs more states than
 * memory can hold, such as `[ab]*a[ab]{30}`. Slower than a DFA that fits, but the cost per byte is bounded by the size of
 * the pattern alone.
 */
export class Simulation {
  private readonly tables: SimulationTables
  private readonly backwards: boolean
  private readonly reached: OrderedSet
  // These have a word of room on both sides, for bits that are shifted out.
  private current: Int32Array
  /** All zero between two steps. */
  private next: Int32Array
  // The words of `current` outside of `[low, high]` are zero.
  private low = 0
  private high = 0
  private nextLow: number
  private nextHigh = -1
  /** Work since the last tick. */
  private work = 0

  constructor(tables: SimulationTables, backwards: boolean) {
    this.tables = tables
    this.backwards = backwards
    const { width, bitOf } = tables.bits
    this.reached = new OrderedSet(bitOf.length)
    this.current = new Int32Array(width + 3)
    this.next = new Int32Array(width + 3)
    this.nextLow = width
  }

  /**
   * Runs over `bytes[from, to)`, part of one line, in the reading direction of the NFA (backwards: from `to` down).
   * Returns the offset between bytes where a match ends in that direction, or -1. `tick` is called now and then, and may
   * throw.
   */
  run(
    bytes: Uint8Array,
    { lineStart, lineEnd }: LineRange,
    from: number,
    to: number,
    { anywhere, stop }: SimulationOptions,
    tick: () => void,
  ): number {
    const { backwards } = this
    const { moves, waitingWords } = this.tables
    const begin = backwards ? to : from
    const end = backwards ? from : to
    const direction = backwards ? -1 : 1
    this.begin()
    let result = -1
    for (let at = begin; ; at += direction) {
      // -1 beyond the line.
      const before = at > lineStart ? (bytes[at - 1] as number) : -1
      const after = at < lineEnd ? (bytes[at] as number) : -1
      const ahead = backwards ? before : after
      if (waitingWords.length > 0) this.settle(backwards ? after : before, ahead)
      if (this.hasMatch()) {
        result = at
        if (stop === 'first') return result
      }
      if (at === end) return result
      this.advance(moves[ahead] as Moves)
      if (anywhere) this.addStart()
      this.step()
      if (this.low > this.high) return result
      this.work += 1
      if (this.work >= TICK) {
        this.work = 0
        tick()
      }
    }
  }

  private begin(): void {
    const { bits, start } = this.tables
    this.current.fill(0)
    this.next.fill(0)
    this.current.set(start, 1)
    this.low = 0
    this.high = bits.width - 1
  }

  private addStart(): void {
    const { next } = this
    const { start, startWords } = this.tables
    for (let k = 0; k < startWords.length; k++) {
      const i = startWords[k] as number
      next[i + 1] = (next[i + 1] as number) | (start[i] as number)
      this.widen(i, i)
    }
  }

  /** Makes `next` the current set, clears the previous one, and narrows the bounds to the words that are set. */
  private step(): void {
    const { current: previous, next: current } = this
    const { width } = this.tables.bits
    for (let i = this.low; i <= this.high; i++) previous[i + 1] = 0
    this.current = current
    this.next = previous
    let low = Math.max(0, this.nextLow)
    let high = Math.min(width - 1, this.nextHigh)
    while (low <= high && current[low + 1] === 0) low++
    while (high > low && current[high + 1] === 0) high--
    this.low = low
    this.high = high
    this.nextLow = width
    this.nextHigh = -1
  }

  private widen(first: number, last: number): void {
    if (first < this.nextLow) this.nextLow = first
    if (last > this.nextHigh) this.nextHigh = last
  }

  private hasMatch(): boolean {
    const { current } = this
    const { matches, matchWords } = this.tables
    for (let k = 0; k < matchWords.length; k++) {
      const i = matchWords[k] as number
      if (((current[i + 1] as number) & (matches[i] as number)) !== 0) return true
    }
    return false
  }

  /** Adds the states behind conditions, which can be decided now that both neighbours are known. Visits each state once. */
  private settle(behind: number, ahead: number): void {
    const { current, reached } = this
    const { bits, splits, waiting, waitingWords } = this.tables
    reached.clear()
    for (let w = 0; w < waitingWords.length; w++) {
      const i = waitingWords[w] as number
      let open = (current[i + 1] as number) & (waiting[i] as number)
      while (open !== 0) {
        reached.add(bits.stateOf[i * 32 + 31 - Math.clz32(open & -open)] as number)
        open &= open - 1
      }
    }
    const waitingCount = reached.size
    if (waitingCount === 0) return
    const following = this.backwards ? behind : ahead
    // Positions between the bytes of a character do not count.
    const inCharacter = following >= 0x80 && following < 0xc0
    const between = isWordByte(behind) !== isWordByte(ahead) ? WORD : inCharacter ? 0 : NOT_WORD
    follow(splits, reached, NO_CONDITION | between | (behind < 0 ? EDGE_BEHIND : 0) | (ahead < 0 ? EDGE_AHEAD : 0))
    this.work += reached.size
    for (let i = waitingCount; i < reached.size; i++) {
      const bit = bits.bitOf[reached.items[i] as number] as number
      if (bit === -1) continue
      const word = bit >> 5
      current[word + 1] = (current[word + 1] as number) | (1 << (bit & 31))
      if (word < this.low) this.low = word
      if (word > this.high) this.high = word
    }
  }

  /** Adds to `next` the states that one byte leads to. */
  private advance({ shifts, others, rowStarts, targets }: Moves): void {
    const { current, next, low, high } = this
    for (let s = 0; s < shifts.length; s++) {
      const { distance, mask } = shifts[s] as Shift
      shiftBits(current, next, mask, distance, low, high)
      this.work += high - low
      this.widen(low + (distance >> 5), high + (distance >> 5) + 1)
    }
    if (others === undefined) return
    for (let i = low; i <= high; i++) {
      let moving = (current[i + 1] as number) & (others[i] as number)
      while (moving !== 0) {
        const bit = i * 32 + 31 - Math.clz32(moving & -moving)
        moving &= moving - 1
        const end = rowStarts[bit + 1] as number
        this.work += end - (rowStarts[bit] as number)
        for (let k = rowStarts[bit] as number; k < end; k++) {
          const target = targets[k] as number
          const word = target >> 5
          next[word + 1] = (next[word + 1] as number) | (1 << (target & 31))
          this.widen(word, word)
        }
      }
    }
  }
}
