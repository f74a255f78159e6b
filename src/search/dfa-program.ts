import type { Condition, Nfa } from './nfa.ts'
import { isWordByte } from './word-byte.ts'

export const LF = 0x0a
export const CR = 0x0d

// Kinds of states.
export const BYTE = 0
export const SPLIT = 1
export const MATCH = 2

/** An NFA in flat arrays, which run several times faster than objects. */
export interface Program {
  /** BYTE, SPLIT or MATCH for each state. */
  readonly kinds: Uint8Array
  readonly conditions: readonly Condition[]
  /** The edges of state `s` are those from `edgeStarts[s]` to `edgeEnds[s]`, exclusive. */
  readonly edgeStarts: Uint32Array
  readonly edgeEnds: Uint32Array
  /** Byte range of each edge; 0 for the edges of splits. */
  readonly lows: Uint8Array
  readonly highs: Uint8Array
  readonly targets: Uint16Array
  /** Some condition depends on word characters. */
  readonly hasWord: boolean
}

export function flattenNfa({ states }: Nfa): Program {
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

/** Puts bytes that no state distinguishes into one column. `samples` has one byte of each column. */
export function byteColumns({ states }: Nfa, { hasWord }: Program): { columns: Uint8Array; samples: number[] } {
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
