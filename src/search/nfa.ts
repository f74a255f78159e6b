import { ToolError } from '../errors.ts'
import type { CodePoints } from './code-points.ts'
import { charSet, FINAL, type SetEdge, setFragment } from './set-fragment.ts'
import type { AssertKind, Node } from './syntax.ts'

/**
 * A condition on a position between two bytes, in reading direction: the edge of the line is behind or ahead; one of the
 * neighbouring bytes is a word character (`word`), or both or none are (`notWord`).
 */
export type Condition = 'none' | 'edgeBehind' | 'edgeAhead' | 'word' | 'notWord'

type State =
  /** Reads a byte. */
  | { readonly type: 'byte'; readonly edges: readonly ByteEdge[] }
  /** Continues without reading a byte; the preferred target comes first. */
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

/** The maximum number of states; in the worst case, time per byte grows with them. */
const MAX_STATES = 20_000

/**
 * Builds the automaton of a tree.
 *
 * @throws ToolError `INVALID_PATTERN` if counts multiply to more states than the limit.
 */
export function buildNfa(root: Node): Nfa {
  const builder = new NfaBuilder()
  return { start: builder.emit(root, 0), states: builder.states }
}

/** Emits states from the end of the pattern to its start, because each state names those after it. */
class NfaBuilder {
  readonly states: State[] = [{ type: 'match' }]
  private readonly fragments = new Map<CodePoints, readonly (readonly SetEdge[])[]>()

  /** Emits states that match `node` and continue to `next`; returns the one to enter by. */
  emit(node: Node, next: number): number {
    switch (node.type) {
      case 'empty':
        return next
      case 'char':
        return this.emitSet(charSet(node.codePoint, node.ignoreCase), next)
      case 'set':
        return this.emitSet(node.set, next)
      case 'assert':
        return this.addSplit([next], CONDITIONS[node.kind])
      case 'concat':
        return node.parts.reduceRight((entry, part) => this.emit(part, entry), next)
      case 'alternate':
        return this.addSplit(node.options.map((option) => this.emit(option, next)))
      case 'repeat':
        return node.max === Number.POSITIVE_INFINITY ? this.emitLoop(node, next) : this.emitCounted(node, next)
    }
  }

  private emitLoop({ node, min, lazy }: Repeat, next: number): number {
    const loop = this.addSplit([])
    const body = this.emit(node, loop)
    const split = this.states[loop] as State & { type: 'split' }
    split.targets = body === loop ? [next] : choice(body, next, lazy)
    // Entering by the body makes one round obligatory.
    return min === 0 ? loop : this.emitTimes(node, min - 1, body)
  }

  private emitCounted({ node, min, max, lazy }: Repeat, next: number): number {
    let entry = next
    for (let count = min; count < max; count++) {
      const body = this.emit(node, entry)
      if (body === entry) return entry
      entry = this.addSplit(choice(body, next, lazy))
    }
    return this.emitTimes(node, min, entry)
  }

  private emitTimes(node: Node, count: number, next: number): number {
    let entry = next
    for (let i = 0; i < count; i++) {
      const body = this.emit(node, entry)
      // A node without states, however often it is repeated.
      if (body === entry) return entry
      entry = body
    }
    return entry
  }

  private emitSet(set: CodePoints, next: number): number {
    let fragment = this.fragments.get(set)
    if (fragment === undefined) {
      fragment = setFragment(set)
      this.fragments.set(set, fragment)
    }
    const numbers: number[] = []
    for (const edges of fragment) {
      const state: State = {
        type: 'byte',
        edges: edges.map(({ lo, hi, to }) => ({ lo, hi, to: to === FINAL ? next : (numbers[to] as number) })),
      }
      numbers.push(this.add(state))
    }
    return numbers[numbers.length - 1] as number
  }

  private addSplit(targets: number[], condition: Condition = 'none'): number {
    return this.add({ type: 'split', condition, targets })
  }

  private add(state: State): number {
    if (this.states.length >= MAX_STATES) {
      throw new ToolError('INVALID_PATTERN', `Cannot search: the pattern needs more than ${MAX_STATES} states`, {
        hint: 'Lower the counts of its quantifiers, especially of nested ones.',
      })
    }
    return this.states.push(state) - 1
  }
}

type Repeat = Extract<Node, { type: 'repeat' }>

/** The targets of a split that repeats or continues, the preferred one first. */
function choice(again: number, next: number, lazy: boolean): number[] {
  return lazy ? [next, again] : [again, next]
}

/** The automaton that matches in reverse: every edge turned around. Preference among matches is lost. */
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
