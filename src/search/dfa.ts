import { byteColumns, CR, flattenNfa, LF, type Program, SPLIT } from './dfa-program.ts'
import { DfaStep, type Goal } from './dfa-step.ts'
import type { Nfa } from './nfa.ts'
import { isWordByte } from './word-byte.ts'

export const UNKNOWN = -0x80000000
export const STOP = -0x7fffffff
export const DEAD = 0

// Flags of a state.
const WORD_BEHIND = 1
/** The last byte was a carriage return, which belongs to the line end if a line feed follows. For `lines` and `rest`. */
const RETURN_PENDING = 2
/** A match was found: no match may begin any more. For `first`. */
const MATCHED = 4
/** The edge of the line lies behind, and some condition depends on it. */
const EDGE_BEHIND = 8

interface DfaState {
  /** States of the NFA in order of preference. Those with an undecided condition are not yet followed. */
  readonly list: Uint16Array
  readonly flags: number
}

/**
 * A deterministic automaton that is built while it runs. A state is created when a byte first leads to it, and all states
 * are dropped when they take too much memory, so time is linear in the text and memory is bounded for every pattern.
 *
 * A run holds a *cursor* and looks up `next = table[cursor + columns[byte]]`. A value of 0 or more is the next cursor. The
 * negative ones mean:
 *
 * - {@link UNKNOWN}: use the value of `compute(cursor, column)`, which may replace `table`.
 * - {@link STOP}: the run is over.
 * - any other: a match ended **before** that byte. The run continues from `~next`, unless that is {@link DEAD}.
 */
export class Dfa {
  /** The column of each byte. */
  readonly columns: Uint8Array
  /** The column for the end of a line where no line feed is read. */
  readonly endColumn: number
  table: Int32Array
  /** Number of states created so far, including dropped ones. */
  built = 0
  /** How many times all states were dropped. Each time invalidates every cursor but the one computed last. */
  drops = -1

  private readonly goal: Goal
  private readonly program: Program
  private readonly step: DfaStep
  /** One byte of each column. */
  private readonly samples: readonly number[]
  private readonly lineFeed: number
  private readonly carriageReturn: number
  private readonly stride: number
  private readonly maxEntries: number
  /** The states in which a run begins inside a line. */
  private readonly innerStart: Uint16Array
  private states: DfaState[] = []
  /** Cursors by list and flags. */
  private cursors = new Map<string, number>()
  private readonly starts: (number | undefined)[] = []
  /** Approximate size of all lists, in entries. */
  private listed = 0

  /** @param memory - approximate limit for the states, in bytes */
  constructor(nfa: Nfa, goal: Goal, memory = 8 << 20) {
    this.goal = goal
    this.program = flattenNfa(nfa)
    this.step = new DfaStep(nfa, this.program, goal)
    const { columns, samples } = byteColumns(nfa, this.program)
    this.columns = columns
    this.samples = samples
    this.lineFeed = columns[LF] as number
    this.carriageReturn = columns[CR] as number
    this.endColumn = samples.length
    this.stride = samples.length + 1
    this.maxEntries = Math.max(memory >> 3, this.stride * 64)
    this.table = new Int32Array(this.stride * 16)
    this.innerStart = this.step.startStates(false)
    this.drop()
  }

  /** The cursor of a run that begins at the edge of a line, or next to a byte that is or is not a word character. */
  start(atEdge: boolean, besideWord: boolean): number {
    const index = (atEdge ? 1 : 0) | (besideWord ? 2 : 0)
    const existing = this.starts[index]
    if (existing !== undefined) return existing
    const list = this.step.startStates(atEdge)
    const edge = atEdge && list.some((state) => this.program.kinds[state] === SPLIT) ? EDGE_BEHIND : 0
    const cursor = this.intern(list, edge | this.wordFlag(besideWord))
    this.starts[index] = cursor
    return cursor
  }

  /** Computes an entry of the table, stores and returns it. */
  compute(cursor: number, column: number): number {
    const from = this.states[cursor / this.stride] as DfaState
    let row = cursor
    if (this.states.length * this.stride > this.maxEntries || this.listed > this.maxEntries) {
      this.drop()
      // Keeps the current state, so that its run can continue.
      row = this.intern(from.list, from.flags)
    }
    const value = this.transition(from, column)
    this.table[row + column] = value
    return value
  }

  private drop(): void {
    this.drops += 1
    this.cursors = new Map()
    this.states = [{ list: new Uint16Array(0), flags: 0 }]
    this.table.fill(STOP, DEAD, this.stride)
    this.listed = 0
    this.starts.length = 0
  }

  /** The cursor of a state, which is created if it does not exist. */
  private intern(list: Uint16Array, flags: number): number {
    let key = String.fromCharCode(flags)
    for (let i = 0; i < list.length; i += 8192) {
      key += String.fromCharCode.apply(null, list.subarray(i, i + 8192) as unknown as number[])
    }
    const existing = this.cursors.get(key)
    if (existing !== undefined) return existing
    const cursor = this.states.length * this.stride
    if (cursor + this.stride > this.table.length) {
      const larger = new Int32Array(this.table.length * 2)
      larger.set(this.table)
      this.table = larger
    }
    this.table.fill(UNKNOWN, cursor, cursor + this.stride)
    this.states.push({ list, flags })
    this.cursors.set(key, cursor)
    this.listed += list.length + 32
    this.built += 1
    return cursor
  }

  private transition(from: DfaState, column: number): number {
    if ((from.flags & RETURN_PENDING) !== 0) {
      const flags = from.flags & ~RETURN_PENDING
      if (column === this.lineFeed) return this.advance(from.list, flags, this.lineFeed)
      // The carriage return was a character of the line.
      const value = this.advance(from.list, flags, this.carriageReturn)
      if (value >= 0) return this.transition(this.states[value / this.stride] as DfaState, column)
      // A match may begin after a return that stopped the run.
      return value === STOP ? this.transition({ list: this.innerStart, flags: 0 }, column) : value
    }
    if (column === this.carriageReturn && (this.goal === 'lines' || this.goal === 'rest')) {
      return this.intern(from.list, from.flags | RETURN_PENDING)
    }
    return this.advance(from.list, from.flags, column)
  }

  private advance(list: Uint16Array, flags: number, column: number): number {
    const { goal } = this
    const atEnd = column === this.endColumn || column === this.lineFeed
    const byte = atEnd ? -1 : (this.samples[column] as number)
    const matched = this.step.read(list, byte, (flags & EDGE_BEHIND) !== 0, (flags & WORD_BEHIND) !== 0)
    if (matched && (goal === 'lines' || goal === 'rest')) return ~DEAD
    if (atEnd) {
      if (goal === 'lines') return this.start(true, false)
      return matched ? ~DEAD : STOP
    }
    const done = goal === 'first' && (matched || (flags & MATCHED) !== 0)
    const next = this.step.nextStates(goal !== 'longest' && !done)
    const isOver = (next.length === 0 && goal !== 'lines') || (goal === 'rest' && isEqual(next, this.innerStart))
    if (isOver) return matched ? ~DEAD : STOP
    const cursor = this.intern(next, this.wordFlag(isWordByte(byte)) | (done ? MATCHED : 0))
    return matched ? ~cursor : cursor
  }

  private wordFlag(isWord: boolean): number {
    return isWord && this.program.hasWord ? WORD_BEHIND : 0
  }
}

function isEqual(a: Uint16Array, b: Uint16Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
