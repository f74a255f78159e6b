import { nonZeroWords, setBit } from './bit-set.ts'
import type { Condition, Nfa } from './nfa.ts'
import { OrderedSet } from './ordered-set.ts'

/** What a simulation needs of an NFA. Sets of states are bits of 32-bit words. */
export interface SimulationTables {
  readonly bits: BitLayout
  readonly splits: Splits
  /** The bits of match states, and the words that have any. */
  readonly matches: Int32Array
  readonly matchWords: readonly number[]
  /** The bits of states that wait for a condition, and the words that have any. */
  readonly waiting: Int32Array
  readonly waitingWords: readonly number[]
  /** The bits in which a run begins, and the words that have any. */
  readonly start: Int32Array
  readonly startWords: readonly number[]
  /** For each byte. */
  readonly moves: readonly Moves[]
}

/** Which bit belongs to which state. */
export interface BitLayout {
  /** Number of words in a set. */
  readonly width: number
  readonly stateOf: readonly number[]
  /** -1 for a state without a bit. */
  readonly bitOf: Int32Array
}

/** Where each state leads without a byte, and the condition for that as a bit. */
export interface Splits {
  readonly targets: readonly (readonly number[])[]
  readonly conditions: Uint8Array
}

/** What a byte does: the bits of `mask` move by `distance`; those of `others` go to the targets in their row. */
export interface Moves {
  readonly shifts: readonly Shift[]
  readonly others: Int32Array | undefined
  /** The targets of bit `b` are those from `rowStarts[b]` to `rowStarts[b + 1]`, exclusive. */
  readonly rowStarts: Int32Array
  readonly targets: Int32Array
}

export interface Shift {
  readonly distance: number
  readonly mask: Int32Array
}

// Conditions as bits, so that one number says which are met.
export const NO_CONDITION = 1
export const EDGE_BEHIND = 2
export const EDGE_AHEAD = 4
export const WORD = 8
export const NOT_WORD = 16
const CONDITIONS: Readonly<Record<Condition, number>> = {
  none: NO_CONDITION,
  edgeBehind: EDGE_BEHIND,
  edgeAhead: EDGE_AHEAD,
  word: WORD,
  notWord: NOT_WORD,
}

const MAX_SHIFTS = 4
const MAX_ENTRIES = 2_000_000
const NONE = new Int32Array(0)

/** Returns `undefined` where the tables would take more than a few megabytes. */
export function buildTables(nfa: Nfa): SimulationTables | undefined {
  const { states } = nfa
  const bits = layOutBits(nfa)
  const splits: Splits = {
    targets: states.map((state) => (state.type === 'split' ? state.targets : [])),
    conditions: Uint8Array.from(states, (state) => (state.type === 'split' ? CONDITIONS[state.condition] : 0)),
  }
  const matches = new Int32Array(bits.width)
  const waiting = new Int32Array(bits.width)
  bits.stateOf.forEach((number, bit) => {
    const state = states[number] as Nfa['states'][number]
    if (state.type === 'match') setBit(matches, bit)
    if (state.type === 'split') setBit(waiting, bit)
  })
  const closures: Closures = { bits, splits, reached: new OrderedSet(states.length), cache: new Map(), entries: 0 }
  const moves: Moves[] = []
  const cuts = byteCuts(nfa)
  for (let byte = 0; byte < 256; byte++) {
    const move = cuts[byte] === 0 ? moves[byte - 1] : buildMoves(nfa, closures, byte)
    if (move === undefined) return undefined
    moves.push(move)
  }
  const start = new Int32Array(bits.width)
  for (const bit of closureOf(closures, nfa.start)) setBit(start, bit)
  return {
    bits,
    splits,
    matches,
    matchWords: nonZeroWords(matches),
    waiting,
    waitingWords: nonZeroWords(waiting),
    start,
    startWords: nonZeroWords(start),
    moves,
  }
}

/** Adds the states that `reached` leads to without a byte, through the conditions that are met. */
export function follow({ targets, conditions }: Splits, reached: OrderedSet, met: number): void {
  for (let i = 0; i < reached.size; i++) {
    const from = reached.items[i] as number
    if (((conditions[from] as number) & met) === 0) continue
    for (const to of targets[from] as readonly number[]) if (!reached.has(to)) reached.add(to)
  }
}

/**
 * Gives a bit to states that wait for a byte or for a condition, and to matches. States that ASCII never reaches come
 * last, so that most words stay zero on most texts.
 */
function layOutBits({ states }: Nfa): BitLayout {
  const bitOf = new Int32Array(states.length).fill(-1)
  const stateOf: number[] = []
  for (const beyondAscii of [false, true]) {
    states.forEach((state, i) => {
      if (state.type === 'split' && state.condition === 'none') return
      const isBeyond = state.type === 'byte' && state.edges.every(({ lo }) => lo >= 0x80)
      if (isBeyond === beyondAscii) bitOf[i] = stateOf.push(i) - 1
    })
  }
  return { width: (stateOf.length + 31) >> 5, stateOf, bitOf }
}

/** Computes and caches the bits that states lead to without a byte. */
interface Closures {
  readonly bits: BitLayout
  readonly splits: Splits
  readonly reached: OrderedSet
  readonly cache: Map<number, Int32Array>
  /** Numbers stored in all tables so far. */
  entries: number
}

/** The bits that a state leads to without a byte and without knowing one. */
function closureOf(closures: Closures, state: number): Int32Array {
  const { bits, splits, reached, cache } = closures
  const cached = cache.get(state)
  if (cached !== undefined) return cached
  reached.clear()
  reached.add(state)
  follow(splits, reached, NO_CONDITION)
  const closure: number[] = []
  for (let i = 0; i < reached.size; i++) {
    const bit = bits.bitOf[reached.items[i] as number] as number
    if (bit !== -1) closure.push(bit)
  }
  const packed = Int32Array.from(closure)
  cache.set(state, packed)
  closures.entries += packed.length
  return packed
}

/** Bits that move by one of the few most common distances are shifted together, the others one by one. */
function buildMoves(nfa: Nfa, closures: Closures, byte: number): Moves | undefined {
  const pairs = movedBits(nfa, closures, byte)
  if (pairs === undefined) return undefined
  const { width, stateOf } = closures.bits
  const masks = new Map<number, Int32Array>()
  for (const distance of commonDistances(pairs)) masks.set(distance, new Int32Array(width))
  const rows: number[][] = []
  for (let i = 0; i < pairs.length; i += 2) {
    const bit = pairs[i] as number
    const target = pairs[i + 1] as number
    const mask = masks.get(target - bit)
    if (mask !== undefined) setBit(mask, bit)
    else {
      rows[bit] ??= []
      rows[bit].push(target)
    }
  }
  const shifts = [...masks].map(([distance, mask]) => ({ distance, mask }))
  if (rows.length === 0) return { shifts, others: undefined, rowStarts: NONE, targets: NONE }
  const others = new Int32Array(width)
  const rowStarts = new Int32Array(stateOf.length + 1)
  const targets: number[] = []
  for (let bit = 0; bit < stateOf.length; bit++) {
    rowStarts[bit] = targets.length
    const row = rows[bit]
    if (row === undefined) continue
    setBit(others, bit)
    for (const target of row) targets.push(target)
  }
  rowStarts[stateOf.length] = targets.length
  return { shifts, others, rowStarts, targets: Int32Array.from(targets) }
}

/** Pairs `bit, target` of a byte, or `undefined` where the tables get too large. */
function movedBits({ states }: Nfa, closures: Closures, byte: number): number[] | undefined {
  const { stateOf } = closures.bits
  const pairs: number[] = []
  for (let bit = 0; bit < stateOf.length; bit++) {
    const state = states[stateOf[bit] as number] as Nfa['states'][number]
    if (state.type !== 'byte') continue
    for (const { lo, hi, to } of state.edges) {
      if (byte < lo || byte > hi) continue
      const targets = closureOf(closures, to)
      closures.entries += 2 * targets.length
      if (closures.entries > MAX_ENTRIES) return undefined
      for (const target of targets) pairs.push(bit, target)
    }
  }
  return pairs
}

function commonDistances(pairs: readonly number[]): number[] {
  const counts = new Map<number, number>()
  for (let i = 0; i < pairs.length; i += 2) {
    const distance = (pairs[i + 1] as number) - (pairs[i] as number)
    counts.set(distance, (counts.get(distance) ?? 0) + 1)
  }
  const common = [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1])
  return common.slice(0, MAX_SHIFTS).map(([distance]) => distance)
}

/** Marks byte 0 and each byte that some state distinguishes from the byte before it. */
function byteCuts({ states }: Nfa): Uint8Array {
  const cuts = new Uint8Array(257)
  cuts[0] = 1
  for (const state of states) {
    if (state.type !== 'byte') continue
    for (const { lo, hi } of state.edges) {
      cuts[lo] = 1
      cuts[hi + 1] = 1
    }
  }
  return cuts
}
