import { ToolError } from '../errors.ts'
import { type CodePoints, toCodePoints } from './code-points.ts'
import { foldCase } from './fold.ts'
import type { AssertKind, Node } from './syntax.ts'
import { type ByteSequence, utf8Sequences } from './utf8.ts'

/**
 * A condition on a position between two bytes, as seen by whoever reads along: the edge of the line lies behind, or
 * ahead; the bytes on both sides differ in being of a word, or do not.
 */
export type Condition = 'none' | 'edgeBehind' | 'edgeAhead' | 'word' | 'notWord'

/** One state: a way on by a byte, or without one, or the end. */
type State =
  | { readonly type: 'byte'; readonly edges: readonly ByteEdge[] }
  /** Ways on without a byte, the preferred first. */
  | { readonly type: 'split'; condition: Condition; targets: number[] }
  | { readonly type: 'match' }

interface ByteEdge {
  readonly lo: number
  readonly hi: number
  readonly to: number
}

/** A nondeterministic automaton over the bytes of one line. */
export interface Nfa {
  readonly states: readonly State[]
  readonly start: number
}

/** An automaton has at most this many states; time per byte grows with them in the worst case. */
const MAX_STATES = 20_000

/** The automaton of a tree. Throws `INVALID_PATTERN` where counts multiply to more states than the limit. */
export function buildNfa(root: Node): Nfa {
  const states: State[] = [{ type: 'match' }]
  const fragments = new Map<CodePoints, readonly (readonly SetEdge[])[]>()
  return { start: emit(root, 0), states }

  function add(state: State): number {
    if (states.length >= MAX_STATES) {
      throw new ToolError('INVALID_PATTERN', `Cannot search: the pattern needs more than ${MAX_STATES} states`, {
        hint: 'Lower the counts of its quantifiers, above all nested ones.',
      })
    }
    return states.push(state) - 1
  }

  function addSplit(targets: number[], condition: Condition = 'none'): number {
    return add({ type: 'split', condition, targets })
  }

  /** Emits what matches `node` and goes on to `next`; gives the state to enter by. */
  function emit(node: Node, next: number): number {
    switch (node.type) {
      case 'empty':
        return next
      case 'char':
        return emitSet(charSet(node.codePoint, node.ignoreCase), next)
      case 'set':
        return emitSet(node.set, next)
      case 'assert':
        return addSplit([next], CONDITIONS[node.kind])
      case 'concat': {
        let entry = next
        for (let i = node.parts.length - 1; i >= 0; i--) entry = emit(node.parts[i] as Node, entry)
        return entry
      }
      case 'alternate': {
        const targets = node.options.map((option) => emit(option, next))
        return addSplit(targets)
      }
      case 'repeat':
        return emitRepeat(node.node, node.min, node.max, node.lazy, next)
    }
  }

  function emitRepeat(node: Node, min: number, max: number, lazy: boolean, next: number): number {
    const choose = (again: number, on: number): number[] => (lazy ? [on, again] : [again, on])
    let entry = next
    if (max === Number.POSITIVE_INFINITY) {
      const loop = addSplit([])
      const body = emit(node, loop)
      const split = states[loop] as State & { type: 'split' }
      split.targets = body === loop ? [next] : choose(body, next)
      // One round is in the loop already: entering by its body makes it `+`.
      entry = min === 0 ? loop : body
      min -= 1
    } else {
      for (let count = min; count < max; count++) {
        const body = emit(node, entry)
        if (body === entry) return entry
        entry = addSplit(choose(body, next))
      }
    }
    for (let count = 0; count < min; count++) {
      const body = emit(node, entry)
      // Repeating nothing is nothing, however often.
      if (body === entry) return entry
      entry = body
    }
    return entry
  }

  function emitSet(set: CodePoints, next: number): number {
    let fragment = fragments.get(set)
    if (fragment === undefined) {
      fragment = setFragment(set)
      fragments.set(set, fragment)
    }
    const placed: number[] = []
    for (const edges of fragment) {
      placed.push(
        add({
          type: 'byte',
          edges: edges.map(({ lo, hi, to }) => ({ lo, hi, to: to === FINAL ? next : (placed[to] as number) })),
        }),
      )
    }
    return placed[placed.length - 1] as number
  }
}

/** The automaton of all reversed matches: every way turned around. Preference among matches is lost. */
export function reverseNfa({ states, start }: Nfa): Nfa {
  const entries: { edges: ByteEdge[]; splits: { condition: Condition; to: number }[] }[] = states.map(() => ({
    edges: [],
    splits: [],
  }))
  let final = 0
  states.forEach((state, from) => {
    if (state.type === 'match') final = from
    else if (state.type === 'byte') {
      for (const { lo, hi, to } of state.edges) entries[to]?.edges.push({ lo, hi, to: from })
    } else {
      for (const to of state.targets) entries[to]?.splits.push({ condition: REVERSED[state.condition], to: from })
    }
  })
  const reversed: State[] = states.map(() => ({ type: 'match' }))
  entries.forEach(({ edges, splits }, i) => {
    const targets = i === start ? [reversed.push({ type: 'match' }) - 1] : []
    if (edges.length > 0) targets.push(reversed.push({ type: 'byte', edges }) - 1)
    for (const { condition, to } of splits) {
      targets.push(condition === 'none' ? to : reversed.push({ type: 'split', condition, targets: [to] }) - 1)
    }
    reversed[i] = { type: 'split', condition: 'none', targets }
  })
  return { states: reversed, start: final }
}

const CONDITIONS: Readonly<Record<AssertKind, Condition>> = {
  lineStart: 'edgeBehind',
  lineEnd: 'edgeAhead',
  word: 'word',
  notWord: 'notWord',
}

const REVERSED: Readonly<Record<Condition, Condition>> = {
  none: 'none',
  edgeBehind: 'edgeAhead',
  edgeAhead: 'edgeBehind',
  word: 'word',
  notWord: 'notWord',
}

function charSet(codePoint: number, ignoreCase: boolean): CodePoints {
  const known = codePoint * 2 + (ignoreCase ? 1 : 0)
  let set = charSets.get(known)
  if (set === undefined) {
    set = toCodePoints([codePoint, codePoint])
    if (ignoreCase) set = foldCase(set)
    if (charSets.size >= MAX_CHAR_SETS) charSets.clear()
    charSets.set(known, set)
  }
  return set
}

const MAX_CHAR_SETS = 1000
const charSets = new Map<number, CodePoints>()

interface SetEdge {
  readonly lo: number
  readonly hi: number
  /** The number of a state before this one, or FINAL. */
  readonly to: number
}

const FINAL = -1

/** The smallest automaton for the UTF-8 encodings of a set: its states, each after those it leads to, the first to enter last. */
function setFragment(set: CodePoints): SetEdge[][] {
  const fragment: SetEdge[][] = []
  const known = new Map<string, number>()
  const place = (edges: SetEdge[]): number => {
    const merged: { lo: number; hi: number; to: number }[] = []
    for (const edge of edges) {
      const last = merged[merged.length - 1]
      if (last !== undefined && last.hi + 1 === edge.lo && last.to === edge.to) last.hi = edge.hi
      else merged.push({ ...edge })
    }
    const key = merged.map(({ lo, hi, to }) => `${lo}-${hi}>${to}`).join()
    let state = known.get(key)
    if (state === undefined) {
      state = fragment.push(merged) - 1
      known.set(key, state)
    }
    return state
  }
  const build = (sequences: readonly ByteSequence[], depth: number): number => {
    const edges: SetEdge[] = []
    for (let i = 0; i < sequences.length; ) {
      const [lo, hi] = (sequences[i] as ByteSequence)[depth] as readonly [number, number]
      let end = i + 1
      // Those that begin with the same byte here have the same range: sequences do not overlap.
      while (sequences[end]?.[depth]?.[0] === lo) end++
      const done = sequences[i]?.length === depth + 1
      edges.push({ lo, hi, to: done ? FINAL : build(sequences.slice(i, end), depth + 1) })
      i = end
    }
    return place(edges)
  }
  build(utf8Sequences(set), 0)
  // The state to enter by must be the last one; sharing can only ever have put it there.
  return fragment
}
