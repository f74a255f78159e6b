import { isWordByte } from './dfa.ts'
import type { Condition, Nfa } from './nfa.ts'
import { orderedSet } from './ordered-set.ts'

/**
 * Runs an NFA directly, all its states at once as bits of a few words: the way out for patterns whose DFA would need more
 * states than memory holds, such as `[ab]*a[ab]{30}`. Slower than a DFA that fits, but its cost per byte is bounded by the
 * size of the pattern alone.
 */
export interface Simulation {
  /**
   * Runs over `bytes[from, to)` in the reading direction of the NFA (backwards: from `to` down), which is one line without
   * its end, and gives the offset between bytes where it first found itself after a match (`'first'`) or last did
   * (`'last'`), or -1. `anywhere`: a match may begin at every byte, not only where the run does.
   */
  run(
    bytes: Uint8Array,
    line: Range,
    from: number,
    to: number,
    how: { anywhere: boolean; stop: 'first' | 'last' },
    tick: () => void,
  ): number
}

interface Range {
  readonly lineStart: number
  readonly lineEnd: number
}

/** `undefined` where the tables would take more than some megabytes. `backwards` goes with an NFA that was reversed. */
export function createSimulation(nfa: Nfa, backwards: boolean): Simulation | undefined {
  const { states } = nfa
  // What each state leads to without a byte, and on which condition.
  const ways = states.map((state) => (state.type === 'split' ? state.targets : []))
  const conditions = Uint8Array.from(states, (state) => (state.type === 'split' ? CONDITIONS[state.condition] : 0))
  // The bits: states that wait for a byte, those that wait for a condition, and matches.
  // Those that ASCII never reaches come last, so that on most texts most words stay zero.
  const bitOf = new Int32Array(states.length).fill(-1)
  const stateOf: number[] = []
  for (const beyondAscii of [false, true]) {
    states.forEach((state, i) => {
      if (state.type === 'split' && state.condition === 'none') return
      const isBeyond = state.type === 'byte' && state.edges.every(({ lo }) => lo >= 0x80)
      if (isBeyond === beyondAscii) bitOf[i] = stateOf.push(i) - 1
    })
  }
  const width = (stateOf.length + 31) >> 5
  const matches = new Int32Array(width)
  const waiting = new Int32Array(width)
  stateOf.forEach((number, bit) => {
    const state = states[number] as Nfa['states'][number]
    if (state.type === 'match') setBit(matches, bit)
    if (state.type === 'split') setBit(waiting, bit)
  })
  const waitingWords = wordsIn(waiting)
  const matchWords = wordsIn(matches)

  const reached = orderedSet(states.length)
  let entries = 0
  const closures = new Map<number, Int32Array>()
  const moves: Moves[] = []
  const cuts = cutsOf(nfa)
  for (let byte = 0; byte < 256; byte++) {
    const made = cuts[byte] === 0 ? moves[byte - 1] : movesOf(byte)
    if (made === undefined) return undefined
    moves.push(made)
  }
  const start = new Int32Array(width)
  for (const bit of closureOf(nfa.start)) setBit(start, bit)
  const startWords = wordsIn(start)
  // A word of room on both sides, for bits that are shifted out.
  let current = new Int32Array(width + 3)
  let next = new Int32Array(width + 3)
  // The words outside of `[low, high]` are zero in `current`; `next` is all zero between two steps.
  let low = 0
  let high = 0
  let nextLow = width
  let nextHigh = -1
  // What was done since the last tick.
  let work = 0

  return { run }

  function run(
    bytes: Uint8Array,
    { lineStart, lineEnd }: Range,
    from: number,
    to: number,
    { anywhere, stop }: { anywhere: boolean; stop: 'first' | 'last' },
    tick: () => void,
  ): number {
    const begin = backwards ? to : from
    const end = backwards ? from : to
    const direction = backwards ? -1 : 1
    current.fill(0)
    next.fill(0)
    current.set(start, 1)
    low = 0
    high = width - 1
    let found = -1
    for (let at = begin; ; at += direction) {
      // The byte read next, and the one read before; -1 beyond the line.
      const before = at > lineStart ? (bytes[at - 1] as number) : -1
      const after = at < lineEnd ? (bytes[at] as number) : -1
      const ahead = backwards ? before : after
      if (waitingWords.length > 0) settle(backwards ? after : before, ahead)
      if (meetsMatch()) {
        found = at
        if (stop === 'first') return found
      }
      if (at === end) return found
      advance(moves[ahead] as Moves)
      if (anywhere) {
        for (let k = 0; k < startWords.length; k++) {
          const i = startWords[k] as number
          next[i + 1] = (next[i + 1] as number) | (start[i] as number)
          widen(i, i)
        }
      }
      step()
      if (low > high) return found
      work += 1
      if (work >= TICK) {
        work = 0
        tick()
      }
    }
  }

  /** Makes `next` the current set, clears the spent one, and narrows the bounds to what is set. */
  function step(): void {
    const spent = current
    for (let i = low; i <= high; i++) spent[i + 1] = 0
    current = next
    next = spent
    low = Math.max(0, nextLow)
    high = Math.min(width - 1, nextHigh)
    nextLow = width
    nextHigh = -1
    while (low <= high && current[low + 1] === 0) low++
    while (high > low && current[high + 1] === 0) high--
  }

  function widen(first: number, last: number): void {
    if (first < nextLow) nextLow = first
    if (last > nextHigh) nextHigh = last
  }

  function meetsMatch(): boolean {
    for (let k = 0; k < matchWords.length; k++) {
      const i = matchWords[k] as number
      if (((current[i + 1] as number) & (matches[i] as number)) !== 0) return true
    }
    return false
  }

  /** Adds what the states that wait for a condition lead to, now that both neighbours are known; visits each state once. */
  function settle(behind: number, ahead: number): void {
    reached.clear()
    for (let w = 0; w < waitingWords.length; w++) {
      const i = waitingWords[w] as number
      let open = (current[i + 1] as number) & (waiting[i] as number)
      while (open !== 0) {
        reached.add(stateOf[i * 32 + 31 - Math.clz32(open & -open)] as number)
        open &= open - 1
      }
    }
    const known = reached.size
    if (known === 0) return
    const following = backwards ? behind : ahead
    // No position is one between the bytes of a character.
    const inCharacter = following >= 0x80 && following < 0xc0
    const between = isWordByte(behind) !== isWordByte(ahead) ? WORD : inCharacter ? 0 : NOT_WORD
    follow(NO_CONDITION | between | (behind < 0 ? EDGE_BEHIND : 0) | (ahead < 0 ? EDGE_AHEAD : 0))
    work += reached.size
    for (let i = known; i < reached.size; i++) {
      const bit = bitOf[reached.items[i] as number] as number
      if (bit === -1) continue
      const word = bit >> 5
      current[word + 1] = (current[word + 1] as number) | (1 << (bit & 31))
      if (word < low) low = word
      if (word > high) high = word
    }
  }

  /** Adds to `next` what one byte leads to. */
  function advance({ shifts, rest, rowStarts, targets }: Moves): void {
    for (let s = 0; s < shifts.length; s++) {
      const { distance, mask } = shifts[s] as Shift
      shift(current, next, mask, distance, low, high)
      work += high - low
      widen(low + (distance >> 5), high + (distance >> 5) + 1)
    }
    if (rest === undefined) return
    for (let i = low; i <= high; i++) {
      let moving = (current[i + 1] as number) & (rest[i] as number)
      while (moving !== 0) {
        const bit = i * 32 + 31 - Math.clz32(moving & -moving)
        moving &= moving - 1
        const end = rowStarts[bit + 1] as number
        work += end - (rowStarts[bit] as number)
        for (let k = rowStarts[bit] as number; k < end; k++) {
          const target = targets[k] as number
          const word = target >> 5
          next[word + 1] = (next[word + 1] as number) | (1 << (target & 31))
          widen(word, word)
        }
      }
    }
  }

  /** Where a byte leads: what moves by one of the few most common distances is shifted together, the rest one by one. */
  function movesOf(byte: number): Moves | undefined {
    const pairs: number[] = []
    const counts = new Map<number, number>()
    for (let bit = 0; bit < stateOf.length; bit++) {
      const state = states[stateOf[bit] as number] as Nfa['states'][number]
      if (state.type !== 'byte') continue
      for (const { lo, hi, to } of state.edges) {
        if (byte < lo || byte > hi) continue
        const targets = closureOf(to)
        entries += 2 * targets.length
        if (entries > MAX_ENTRIES) return undefined
        for (const target of targets) {
          pairs.push(bit, target)
          counts.set(target - bit, (counts.get(target - bit) ?? 0) + 1)
        }
      }
    }
    const common = [...counts].filter(([, count]) => count > 1).sort((a, b) => b[1] - a[1])
    const masks = new Map<number, Int32Array>()
    for (const [distance] of common.slice(0, MAX_SHIFTS)) masks.set(distance, new Int32Array(width))
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
    if (rows.length === 0) return { shifts, rest: undefined, rowStarts: NONE, targets: NONE }
    const rest = new Int32Array(width)
    const rowStarts = new Int32Array(stateOf.length + 1)
    const targets: number[] = []
    for (let bit = 0; bit < stateOf.length; bit++) {
      rowStarts[bit] = targets.length
      const row = rows[bit]
      if (row === undefined) continue
      setBit(rest, bit)
      for (const target of row) targets.push(target)
    }
    rowStarts[stateOf.length] = targets.length
    return { shifts, rest, rowStarts, targets: Int32Array.from(targets) }
  }

  /** The bits that a state leads to without a byte and without knowing one. */
  function closureOf(state: number): Int32Array {
    let known = closures.get(state)
    if (known === undefined) {
      reached.clear()
      reached.add(state)
      follow(NO_CONDITION)
      const bits: number[] = []
      for (let i = 0; i < reached.size; i++) {
        const bit = bitOf[reached.items[i] as number] as number
        if (bit !== -1) bits.push(bit)
      }
      known = Int32Array.from(bits)
      closures.set(state, known)
      entries += known.length
    }
    return known
  }

  /** Adds what `reached` leads to without a byte, through those conditions that hold. */
  function follow(holding: number): void {
    for (let i = 0; i < reached.size; i++) {
      const from = reached.items[i] as number
      if (((conditions[from] as number) & holding) === 0) continue
      for (const to of ways[from] as readonly number[]) if (!reached.has(to)) reached.add(to)
    }
  }
}

/** What a byte does: bits of `mask` move by `distance`; those of `rest` to the targets in their row. */
interface Moves {
  readonly shifts: readonly Shift[]
  readonly rest: Int32Array | undefined
  readonly rowStarts: Int32Array
  readonly targets: Int32Array
}

interface Shift {
  readonly distance: number
  readonly mask: Int32Array
}

const MAX_SHIFTS = 4
const MAX_ENTRIES = 2_000_000
/** A tick comes every 4,096 bytes, and sooner where a byte costs more than a step. */
const TICK = 4096
const NONE = new Int32Array(0)

// Conditions as bits, so that one number says which hold.
const NO_CONDITION = 1
const EDGE_BEHIND = 2
const EDGE_AHEAD = 4
const WORD = 8
const NOT_WORD = 16
const CONDITIONS: Readonly<Record<Condition, number>> = {
  none: NO_CONDITION,
  edgeBehind: EDGE_BEHIND,
  edgeAhead: EDGE_AHEAD,
  word: WORD,
  notWord: NOT_WORD,
}

/** Marks each byte that some state tells from the one before, and the first. */
function cutsOf({ states }: Nfa): Uint8Array {
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

/** Moves the masked bits of some words by a distance, in either direction. Both sets have a word of room before them. */
function shift(from: Int32Array, to: Int32Array, mask: Int32Array, distance: number, low: number, high: number): void {
  const bits = distance & 31
  const words = (distance >> 5) + 1
  const back = 32 - bits
  for (let i = low; i <= high; i++) {
    const moving = (from[i + 1] as number) & (mask[i] as number)
    if (moving === 0) continue
    to[i + words] = (to[i + words] as number) | (moving << bits)
    // A shift by 32 would be one by none.
    if (bits !== 0) to[i + words + 1] = (to[i + words + 1] as number) | (moving >>> back)
  }
}

/** The indices of the words that are not zero. */
function wordsIn(set: Int32Array): number[] {
  return [...set.keys()].filter((i) => set[i] !== 0)
}

function setBit(set: Int32Array, bit: number): void {
  set[bit >> 5] = (set[bit >> 5] as number) | (1 << (bit & 31))
}
