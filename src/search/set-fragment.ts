import { type CodePoints, toCodePoints } from './code-points.ts'
import { foldCase } from './fold.ts'
import { type ByteSequence, utf8Sequences } from './utf8.ts'

export interface SetEdge {
  readonly lo: number
  readonly hi: number
  /** The index of an earlier state, or {@link FINAL}. */
  readonly to: number
}

export const FINAL = -1

const MAX_CHAR_SETS = 1000
const charSets = new Map<number, CodePoints>()

/** The set of one character. Cached, so that equal characters of a pattern share their set. */
export function charSet(codePoint: number, ignoreCase: boolean): CodePoints {
  const key = codePoint * 2 + (ignoreCase ? 1 : 0)
  let set = charSets.get(key)
  if (set === undefined) {
    set = toCodePoints([codePoint, codePoint])
    if (ignoreCase) set = foldCase(set)
    if (charSets.size >= MAX_CHAR_SETS) charSets.clear()
    charSets.set(key, set)
  }
  return set
}

/** The smallest automaton for the UTF-8 encodings of a set. Each state follows those it leads to; the last one is the entry. */
export function setFragment(set: CodePoints): SetEdge[][] {
  const fragment: SetEdge[][] = []
  const numbers = new Map<string, number>()
  const addState = (edges: SetEdge[]): number => {
    const merged = mergeEdges(edges)
    const key = merged.map(({ lo, hi, to }) => `${lo}-${hi}>${to}`).join()
    let state = numbers.get(key)
    if (state === undefined) {
      state = fragment.push(merged) - 1
      numbers.set(key, state)
    }
    return state
  }
  const build = (sequences: readonly ByteSequence[], depth: number): number => {
    const edges: SetEdge[] = []
    for (let i = 0; i < sequences.length; ) {
      const [lo, hi] = (sequences[i] as ByteSequence)[depth] as readonly [number, number]
      let end = i + 1
      // Sequences do not overlap, so those with the same low byte here have the same range.
      while (sequences[end]?.[depth]?.[0] === lo) end++
      const isLastByte = sequences[i]?.length === depth + 1
      edges.push({ lo, hi, to: isLastByte ? FINAL : build(sequences.slice(i, end), depth + 1) })
      i = end
    }
    return addState(edges)
  }
  // The entry becomes the last state: no earlier state reads first bytes of characters, so it is never a shared one.
  build(utf8Sequences(set), 0)
  return fragment
}

/** Joins neighbouring ranges with the same target. */
function mergeEdges(edges: readonly SetEdge[]): SetEdge[] {
  const merged: { lo: number; hi: number; to: number }[] = []
  for (const edge of edges) {
    const last = merged[merged.length - 1]
    if (last !== undefined && last.hi + 1 === edge.lo && last.to === edge.to) last.hi = edge.hi
    else merged.push({ ...edge })
  }
  return merged
}
