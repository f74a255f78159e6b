import { isWordByte } from './dfa.ts'
import type { Condition, Nfa } from './nfa.ts'

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
  // The bits: states that wait for a byte, those that wait for a condition, and matches.
  const bitOf = new Int32Array(states.length).fill(-1)
  const stateOf: number[] = []
  states.forEach((state, i) => {
    if (state.type !== 'split' || state.condition !== 'none') bitOf[i] = stateOf.push(i) - 1
  })
  const width = (stateOf.length + 31) >> 5
  const matches = new Int32Array(width)
  const waiting = new Int32Array(width)
  stateOf.forEach((number, bit) => {
    const state = states[number] as Nfa['states'][number]
    if (state.type === 'match') setBit(matches, bit)
    if (state.type === 'split') setBit(waiting, bit)
  })
  const hasWaiting = waiting.some((word) => word !== 0)

  let entries = 0
  const closures = new Map<number, Int32Array>()
  const moves: (Moves | undefined)[] = []
  const contexts = new Map<number, Map<number, Int32Array>>()
  try {
    const cuts = cutsOf(nfa)
    for (let byte = 0; byte < 256; byte++) moves[byte] = byte > 0 && cuts[byte] === 0 ? moves[byte - 1] : movesOf(byte)
  } catch (error) {
    if (error === tooLarge) return undefined
    throw error
  }
  const startAtEdge = bitsOf(closure(nfa.start, (condition) => condition === 'edgeBehind'))
  const startInside = bitsOf(closure(nfa.start, () => false))
  // A word of room on both sides, for bits that are shifted out.
  let current = new Int32Array(width + 3)
  let next = new Int32Array(width + 3)

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
    const first = begin === (backwards ? lineEnd : lineStart) ? startAtEdge : startInside
    for (let i = 0; i < width; i++) current[i + 1] = first[i] as number
    let found = -1
    for (let at = begin; ; at += direction) {
      // The byte read next, and the one read before; -1 beyond the line.
      const ahead = backwards
        ? at > lineStart
          ? (bytes[at - 1] as number)
          : -1
        : at < lineEnd
          ? (bytes[at] as number)
          : -1
      if (hasWaiting) {
        const behind = backwards
          ? at < lineEnd
            ? (bytes[at] as number)
            : -1
          : at > lineStart
            ? (bytes[at - 1] as number)
            : -1
        settle(behind, ahead)
      }
      if (meetsMatch()) {
        found = at
        if (stop === 'first') return found
      }
      if (at === end) return found
      if (!advance(moves[ahead] as Moves) && !anywhere) return found
      if (anywhere) for (let i = 0; i < width; i++) next[i + 1] = (next[i + 1] as number) | (startInside[i] as number)
      const spent = current
      current = next
      next = spent
      if ((at & TICK) === 0) tick()
    }
  }

  function meetsMatch(): boolean {
    for (let i = 0; i < width; i++) if (((current[i + 1] as number) & (matches[i] as number)) !== 0) return true
    return false
  }

  /** Adds what the states that wait for a condition lead to, now that both neighbours are known. */
  function settle(behind: number, ahead: number): void {
    let rows: Map<number, Int32Array> | undefined
    for (let i = 0; i < width; i++) {
      let open = (current[i + 1] as number) & (waiting[i] as number)
      while (open !== 0) {
        const bit = 31 - Math.clz32(open & -open)
        open &= open - 1
        rows ??= contextOf(behind, ahead)
        const row = rowOf(rows, i * 32 + bit, behind, ahead)
        for (let k = 0; k < row.length; k++) {
          const target = row[k] as number
          current[(target >> 5) + 1] = (current[(target >> 5) + 1] as number) | (1 << (target & 31))
        }
      }
    }
  }

  function contextOf(behind: number, ahead: number): Map<number, Int32Array> {
    const key =
      (behind < 0 ? 1 : 0) +
      (behind >= 0 && isWordByte(behind) ? 2 : 0) +
      (ahead < 0 ? 4 : 0) +
      (ahead >= 0 && isWordByte(ahead) ? 8 : 0) +
      (isInCharacter(behind, ahead) ? 16 : 0)
    let rows = contexts.get(key)
    if (rows === undefined) {
      rows = new Map()
      contexts.set(key, rows)
    }
    return rows
  }

  function rowOf(rows: Map<number, Int32Array>, bit: number, behind: number, ahead: number): Int32Array {
    let row = rows.get(bit)
    if (row === undefined) {
      const wordBehind = behind >= 0 && isWordByte(behind)
      const wordAhead = ahead >= 0 && isWordByte(ahead)
      row = closure(stateOf[bit] as number, (condition) => {
        if (condition === 'edgeBehind') return behind < 0
        if (condition === 'edgeAhead') return ahead < 0
        if (condition === 'word') return wordBehind !== wordAhead
        return wordBehind === wordAhead && !isInCharacter(behind, ahead)
      })
      rows.set(bit, row)
    }
    return row
  }

  /** Whether the position lies between the bytes of one character, where none is. */
  function isInCharacter(behind: number, ahead: number): boolean {
    const following = backwards ? behind : ahead
    return following >= 0x80 && following < 0xc0
  }

  /** Fills `next` with what one byte leads to; says whether that is anything. */
  function advance({ shifts, rest, rowStarts, targets }: Moves): boolean {
    next.fill(0)
    let any = 0
    for (let s = 0; s < shifts.length; s++) {
      const { distance, mask } = shifts[s] as Shift
      const bits = distance & 31
      const words = (distance >> 5) + 1
      for (let i = 0; i < width; i++) {
        const moving = (current[i + 1] as number) & (mask[i] as number)
        if (moving === 0) continue
        any = 1
        next[i + words] = (next[i + words] as number) | (moving << bits)
        if (bits !== 0) next[i + words + 1] = (next[i + words + 1] as number) | (moving >>> (32 - bits))
      }
    }
    if (rest === undefined) return any !== 0
    for (let i = 0; i < width; i++) {
      let moving = (current[i + 1] as number) & (rest[i] as number)
      while (moving !== 0) {
        any = 1
        const bit = i * 32 + 31 - Math.clz32(moving & -moving)
        moving &= moving - 1
        const end = rowStarts[bit + 1] as number
        for (let k = rowStarts[bit] as number; k < end; k++) {
          const target = targets[k] as number
          next[(target >> 5) + 1] = (next[(target >> 5) + 1] as number) | (1 << (target & 31))
        }
      }
    }
    return any !== 0
  }

  /** Where a byte leads: what moves by one of the few most common distances is shifted together, the rest one by one. */
  function movesOf(byte: number): Moves {
    const pairs: number[] = []
    const counts = new Map<number, number>()
    stateOf.forEach((number, bit) => {
      const state = states[number] as Nfa['states'][number]
      if (state.type !== 'byte') return
      for (const { lo, hi, to } of state.edges) {
        if (byte < lo || byte > hi) continue
        for (const target of closureOf(to)) {
          pairs.push(bit, target)
          counts.set(target - bit, (counts.get(target - bit) ?? 0) + 1)
        }
      }
    })
    entries += pairs.length
    if (entries > MAX_ENTRIES) throw tooLarge
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

  function closureOf(state: number): Int32Array {
    let known = closures.get(state)
    if (known === undefined) {
      known = closure(state, () => false)
      closures.set(state, known)
      entries += known.length
      if (entries > MAX_ENTRIES) throw tooLarge
    }
    return known
  }

  /** The bits that a state leads to without a byte, through those conditions that hold. */
  function closure(state: number, holds: (condition: Condition) => boolean): Int32Array {
    const seen = new Set<number>()
    const bits: number[] = []
    const stack = [state]
    for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
      if (seen.has(top)) continue
      seen.add(top)
      if ((bitOf[top] as number) !== -1) bits.push(bitOf[top] as number)
      const reached = states[top] as Nfa['states'][number]
      if (reached.type === 'split' && (reached.condition === 'none' || holds(reached.condition)))
        stack.push(...reached.targets)
    }
    return Int32Array.from(bits)
  }

  function bitsOf(bits: Int32Array): Int32Array {
    const set = new Int32Array(width)
    for (const bit of bits) setBit(set, bit)
    return set
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
/** A tick comes every 4,096 bytes. */
const TICK = 4095
const NONE = new Int32Array(0)
const tooLarge = Symbol('too large')

/** Marks each byte that some state tells from the one before. */
function cutsOf({ states }: Nfa): Uint8Array {
  const cuts = new Uint8Array(257)
  for (const state of states) {
    if (state.type !== 'byte') continue
    for (const { lo, hi } of state.edges) {
      cuts[lo] = 1
      cuts[hi + 1] = 1
    }
  }
  return cuts
}

function setBit(set: Int32Array, bit: number): void {
  set[bit >> 5] = (set[bit >> 5] as number) | (1 << (bit & 31))
}
