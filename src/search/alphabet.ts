import { foldCase } from './fold.ts'
import type { AssertKind, Node } from './syntax.ts'

/** The ASCII characters that matches of a pattern can consist of. */
export interface Alphabet {
  /** 1 for each character that may occur in a match. */
  readonly anywhere: Uint8Array
  /** 1 for each character that may be the first or the last of a match. */
  readonly ends: Uint8Array
  readonly asserts: ReadonlySet<AssertKind>
}

/** Computes an upper bound: the result may contain characters that no match has. */
export function alphabetOf(root: Node): Alphabet {
  const anywhere = new Uint8Array(128)
  const ends = new Uint8Array(128)
  const asserts = new Set<AssertKind>()
  collect(root, anywhere, asserts)
  edge(root, ends, (parts) => parts)
  edge(root, ends, (parts) => parts.toReversed())
  return { anywhere, ends, asserts }
}

function collect(node: Node, into: Uint8Array, asserts: Set<AssertKind>): void {
  switch (node.type) {
    case 'assert':
      asserts.add(node.kind)
      break
    case 'char':
    case 'set':
      addSet(node, into)
      break
    case 'concat':
      for (const part of node.parts) collect(part, into, asserts)
      break
    case 'alternate':
      for (const option of node.options) collect(option, into, asserts)
      break
    case 'repeat':
      if (node.max > 0) collect(node.node, into, asserts)
  }
}

/** Adds the characters at one edge. Returns whether the node may match nothing, so that its neighbour is at the edge. */
function edge(node: Node, into: Uint8Array, order: (parts: readonly Node[]) => readonly Node[]): boolean {
  switch (node.type) {
    case 'empty':
    case 'assert':
      return true
    case 'char':
    case 'set':
      addSet(node, into)
      return false
    case 'concat':
      return order(node.parts).every((part) => edge(part, into, order))
    case 'alternate':
      return node.options.map((option) => edge(option, into, order)).some((isEmpty) => isEmpty)
    case 'repeat':
      return node.max === 0 || edge(node.node, into, order) || node.min === 0
  }
}

function addSet(node: Extract<Node, { type: 'char' | 'set' }>, into: Uint8Array): void {
  const members = node.type === 'set' ? node.set : [node.codePoint, node.codePoint]
  const set = node.type === 'char' && node.ignoreCase ? foldCase(members) : members
  for (let i = 0; i < set.length && (set[i] as number) < 128; i += 2) {
    into.fill(1, set[i], Math.min(set[i + 1] as number, 127) + 1)
  }
}
