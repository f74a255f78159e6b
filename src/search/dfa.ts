import type { Condition, Nfa } from './nfa.ts'
import { type OrderedSet, orderedSet } from './ordered-set.ts'

/**
 * A deterministic automaton that is built while it runs: a state is made when a byte first leads to it, and all are
 * dropped when they take too much memory, so that time is linear in the text and memory is bounded, whatever the pattern.
 *
 * A run holds a *cursor* and looks up `next = table[cursor + columns[byte]]`, which is the cursor to go on with, or, if it
 * is negative: {@link UNKNOWN}, and `compute(cursor, column)` gives the value to use instead (and may replace the table);
 * {@link STOP}, and nothing more can come of this run; or else a match ended **before** that byte, and the run may go on
 * from `~next`, unless that is {@link DEAD}.
 */
export interface Dfa {
  /** The column of each byte. */
  readonly columns: Uint8Array
  /** The column for the end of a line where no line feed is read. */
  readonly endColumn: number
  table(): Int32Array
  compute(cursor: number, column: number): number
  /** The cursor of a run that begins at the edge of a line, or else next to a byte that is or is not of a word. */
  start(atEdge: boolean, besideWord: boolean): number
  /** How many states were made so far, dropped ones included. */
  built(): number
  /** How often all states were dropped; with that, every cursor but the one computed last. */
  drops(): number
}

export const UNKNOWN = -0x80000000
export const STOP = -0x7fffffff
export const DEAD = 0

/**
 * What a run looks for.
 *
 * - `lines`: whether some line matches, over many lines; `\r\n` ends a line as `\n` does. After a match there is no way on.
 * - `rest`: the same from somewhere in a line, and stops at its end, or as soon as no match is under way.
 * - `first`: the end of the leftmost match in one line, given without its line end; what the pattern prefers among those.
 * - `longest`: the longest match from the start of the run on.
 */
export type Goal = 'lines' | 'rest' | 'first' | 'longest'

const WORD_BEHIND = 1
/** A carriage return was read that belongs to the line's end if a line feed follows. For `lines` and `rest`. */
const RETURN_PENDING = 2
/** Something matched already: no new beginnings. For `first`. */
const MATCHED = 4
/** The edge of the line lies behind, and there are conditions to which it may matter. */
const EDGE_BEHIND = 8

interface DfaState {
  /** States of the NFA, in order of preference; those with an open condition are not yet followed. */
  readonly list: Uint16Array
  readonly flags: number
}

/** `memory` is about what its states may take, in bytes. */
export function createDfa(nfa: Nfa, goal: Goal, memory = 8 << 20): Dfa {
  const program = flatten(nfa)
  const { columns, samples } = byteColumns(nfa, program)
  const lineFeed = columns[LF] as number
  const carriageReturn = columns[CR] as number
  const endColumn = samples.length
  const stride = endColumn + 1
  const whetherOnly = goal === 'lines' || goal === 'rest'

  const maxEntries = Math.max(memory >> 3, stride * 64)
  let table = new Int32Array(stride * 16)
  let states: DfaState[] = []
  let numbers = new Map<string, number>()
  const starts: (number | undefined)[] = []
  let listed = 0
  let made = 0
  let dropped = -1

  const reached = orderedSet(nfa.states.length)
  const open = orderedSet(nfa.states.length)
  const scratch = new Uint16Array(nfa.states.length)
  const stack: number[] = []
  // Of the step at hand.
  let atEnd = false
  let edgeBehind = false
  let wordBehind = false
  let wordAhead = false
  let inCharacter = false

  follow(nfa.start, reached, false)
  const restList = listOf(reached)
  drop()
  return { columns, endColumn, table: () => table, compute, start, built: () => made, drops: () => dropped }

  function drop(): void {
    dropped += 1
    numbers = new Map()
    states = [{ list: new Uint16Array(0), flags: 0 }]
    table.fill(STOP, DEAD, stride)
    listed = 0
    starts.length = 0
  }

  function intern(list: Uint16Array, flags: number): number {
    let key = String.fromCharCode(flags)
    for (let i = 0; i < list.length; i += 8192) {
      key += String.fromCharCode.apply(null, list.subarray(i, i + 8192) as unknown as number[])
    }
    const known = numbers.get(key)
    if (known !== undefined) return known
    const cursor = states.length * stride
    if (cursor + stride > table.length) {
      const larger = new Int32Array(table.length * 2)
      larger.set(table)
      table = larger
    }
    table.fill(UNKNOWN, cursor, cursor + stride)
    states.push({ list, flags })
    numbers.set(key, cursor)
    listed += list.length + 32
    made += 1
    return cursor
  }

  function start(atEdge: boolean, besideWord: boolean): number {
    const which = (atEdge ? 1 : 0) | (besideWord ? 2 : 0)
    const known = starts[which]
    if (known !== undefined) return known
    reached.clear()
    follow(nfa.start, reached, atEdge)
    const list = listOf(reached)
    const edge = atEdge && list.some((state) => program.kinds[state] === SPLIT) ? EDGE_BEHIND : 0
    const cursor = intern(list, edge | (besideWord && program.hasWord ? WORD_BEHIND : 0))
    starts[which] = cursor
    return cursor
  }

  function compute(cursor: number, column: number): number {
    const from = states[cursor / stride] as DfaState
    let row = cursor
    if (states.length * stride > maxEntries || listed > maxEntries) {
      drop()
      // The state at hand lives on, so that its run can.
      row = intern(from.list, from.flags)
    }
    const value = step(from, column)
    table[row + column] = value
    return value
  }

  function step(from: DfaState, column: number): number {
    if ((from.flags & RETURN_PENDING) !== 0) {
      const flags = from.flags & ~RETURN_PENDING
      if (column === lineFeed) return advance(from.list, flags, lineFeed)
      // It was a character of the line after all.
      const value = advance(from.list, flags, carriageReturn)
      if (value >= 0) return step(states[value / stride] as DfaState, column)
      // A run that stopped with the return may have to begin with what follows it.
      return value === STOP ? step({ list: restList, flags: 0 }, column) : value
    }
    if (whetherOnly && column === carriageReturn) return intern(from.list, from.flags | RETURN_PENDING)
    return advance(from.list, from.flags, column)
  }

  function advance(list: Uint16Array, flags: number, column: number): number {
    atEnd = column === endColumn || column === lineFeed
    const byte = atEnd ? -1 : (samples[column] as number)
    edgeBehind = (flags & EDGE_BEHIND) !== 0
    wordBehind = (flags & WORD_BEHIND) !== 0
    wordAhead = isWordByte(byte)
    // A run towards the end meets positions inside of characters; they are none.
    inCharacter = goal !== 'longest' && byte >= 0x80 && byte < 0xc0
    open.clear()
    for (let i = 0; i < list.length; i++) resolve(list[i] as number)

    reached.clear()
    let matched = false
    for (let i = 0; i < open.size; i++) {
      const state = open.items[i] as number
      const kind = program.kinds[state]
      if (kind === MATCH) {
        if (whetherOnly) return ~DEAD
        matched = true
        // What is less preferred than this match is no longer of interest.
        if (goal === 'first') break
      } else if (kind === BYTE) {
        const end = program.edgeEnds[state] as number
        for (let edge = program.edgeStarts[state] as number; edge < end; edge++) {
          if ((program.lows[edge] as number) <= byte && byte <= (program.highs[edge] as number)) {
            follow(program.targets[edge] as number, reached, false)
          }
        }
      }
    }
    if (atEnd) {
      if (goal === 'lines') return start(true, false)
      return matched ? ~DEAD : STOP
    }
    const done = goal === 'first' && (matched || (flags & MATCHED) !== 0)
    if (goal !== 'longest' && !done) follow(nfa.start, reached, false)
    const next = listOf(reached)
    const over = (next.length === 0 && goal !== 'lines') || (goal === 'rest' && isEqual(next, restList))
    if (over) return matched ? ~DEAD : STOP
    const cursor = intern(next, (wordAhead && program.hasWord ? WORD_BEHIND : 0) | (done ? MATCHED : 0))
    return matched ? ~cursor : cursor
  }

  /** Adds a state and what was left open of it, now that the next byte is known. */
  function resolve(state: number): void {
    stack.push(state)
    while (stack.length > 0) {
      const top = stack.pop() as number
      if (open.has(top)) continue
      open.add(top)
      if (program.kinds[top] === SPLIT && holds(program.conditions[top] as Condition)) pushTargets(top)
    }
  }

  function holds(condition: Condition): boolean {
    switch (condition) {
      case 'none':
        return true
      case 'edgeBehind':
        return edgeBehind
      case 'edgeAhead':
        return atEnd
      case 'word':
        return wordBehind !== wordAhead
      case 'notWord':
        return wordBehind === wordAhead && !inCharacter
    }
  }

  /** Adds what can be reached from a state without a byte and without knowing the next one, the preferred first. */
  function follow(state: number, into: OrderedSet, atEdge: boolean): void {
    stack.push(state)
    while (stack.length > 0) {
      const top = stack.pop() as number
      if (into.has(top)) continue
      into.add(top)
      if (program.kinds[top] !== SPLIT) continue
      const condition = program.conditions[top]
      if (condition === 'none' || (condition === 'edgeBehind' && atEdge)) pushTargets(top)
    }
  }

  function pushTargets(state: number): void {
    const first = program.edgeStarts[state] as number
    for (let edge = (program.edgeEnds[state] as number) - 1; edge >= first; edge--) {
      stack.push(program.targets[edge] as number)
    }
  }

  /** What a state must remember: all but the splits that were followed, and what a match makes pointless. */
  function listOf(set: OrderedSet): Uint16Array {
    let kept = 0
    for (let i = 0; i < set.size; i++) {
      const state = set.items[i] as number
      if (program.kinds[state] === MATCH && goal !== 'longest') {
        if (whetherOnly) kept = 0
        scratch[kept++] = state
        break
      }
      if (isKept(state)) scratch[kept++] = state
    }
    const list = scratch.slice(0, kept)
    return goal === 'first' ? list : list.sort()
  }

  function isKept(state: number): boolean {
    if (program.kinds[state] !== SPLIT) return true
    const condition = program.conditions[state]
    return condition !== 'none' && condition !== 'edgeBehind'
  }
}

function isEqual(a: Uint16Array, b: Uint16Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

const LF = 0x0a
const CR = 0x0d

const BYTE = 0
const SPLIT = 1
const MATCH = 2

interface Program {
  readonly kinds: Uint8Array
  readonly conditions: readonly Condition[]
  /** The edges of a state: of bytes, or of targets alone. */
  readonly edgeStarts: Uint32Array
  readonly edgeEnds: Uint32Array
  readonly lows: Uint8Array
  readonly highs: Uint8Array
  readonly targets: Uint16Array
  readonly hasWord: boolean
}

/** The automaton in flat arrays, which step several times faster than objects. */
function flatten({ states }: Nfa): Program {
  const lows: number[] = []
  const highs: number[] = []
  const targets: number[] = []
  const kinds = new Uint8Array(states.length)
  const conditions: Condition[] = []
  const edgeStarts = new Uint32Array(states.length)
  const edgeEnds = new Uint32Array(states.length)
  let hasWord = false
  states.forEach((state, i) => {
    edgeStarts[i] = targets.length
    conditions.push(state.type === 'split' ? state.condition : 'none')
    if (state.type === 'byte') {
      kinds[i] = BYTE
      for (const { lo, hi, to } of state.edges) {
        lows.push(lo)
        highs.push(hi)
        targets.push(to)
      }
    } else if (state.type === 'split') {
      kinds[i] = SPLIT
      if (state.condition === 'word' || state.condition === 'notWord') hasWord = true
      for (const to of state.targets) {
        lows.push(0)
        highs.push(0)
        targets.push(to)
      }
    } else {
      kinds[i] = MATCH
    }
    edgeEnds[i] = targets.length
  })
  return {
    kinds,
    conditions,
    edgeStarts,
    edgeEnds,
    lows: Uint8Array.from(lows),
    highs: Uint8Array.from(highs),
    targets: Uint16Array.from(targets),
    hasWord,
  }
}

/** Puts bytes that no state tells apart into one column; `samples` has a byte of each. */
function byteColumns({ states }: Nfa, { hasWord }: Program): { columns: Uint8Array; samples: number[] } {
  const cuts = new Uint8Array(257)
  const cut = (lo: number, hi: number): void => {
    cuts[lo] = 1
    cuts[hi + 1] = 1
  }
  cut(LF, LF)
  cut(CR, CR)
  for (const state of states) {
    if (state.type === 'byte') for (const { lo, hi } of state.edges) cut(lo, hi)
  }
  if (hasWord) {
    for (let byte = 0; byte < 255; byte++) if (isWordByte(byte) !== isWordByte(byte + 1)) cuts[byte + 1] = 1
    cut(0x80, 0xbf)
  }
  const columns = new Uint8Array(256)
  const samples: number[] = []
  for (let byte = 0; byte < 256; byte++) {
    if (byte === 0 || cuts[byte] === 1) samples.push(byte)
    columns[byte] = samples.length - 1
  }
  return { columns, samples }
}

/** Whether a byte is `[0-9A-Za-z_]`. */
export function isWordByte(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a) || (byte >= 0x30 && byte <= 0x39) || byte === 0x5f
  )
}
