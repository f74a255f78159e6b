import { foldCase } from './fold.ts'
import type { AssertKind, Node } from './syntax.ts'

/** The ASCII characters that matches of a pattern can consist of. */
export interface Alphabet {
  /** 1 for each character that may occur in a match. */
  readonly anywhere: Uint8Array
  /** The beginning and the end of a match. */
  readonly edges: readonly [AlphabetEdge, AlphabetEdge]
}

/** One end of a match. */
export interface AlphabetEdge {
  /** 1 for each character that may be the outermost. */
  readonly characters: Uint8Array
  /** What may be asserted beyond the outermost character. */
  readonly asserts: Set<AssertKind>
}

/** Computes an upper bound: the result may contain characters that no match has. */
export function alphabetOf(root: Node): Alphabet {
  const anywhere = new Uint8Array(128)
  collect(root, anywhere)
  return { anywhere, edges: [edgeOf(root, (parts) => parts), edgeOf(root, (parts) => parts.toReversed())] }
}

function collect(node: Node, into: Uint8Array): void {
  switch (node.type) {
    case 'char':
    case 'set':
      addSet(node, into)
      break
    case 'concat':
      for (const part of node.parts) collect(part, into)
      break
    case 'alternate':
      for (const option of node.options) collect(option, into)
      break
    case 'repeat':
      if (node.max > 0) collect(node.node, into)
  }
}

type Order = (parts: readonly Node[]) => readonly Node[]

function edgeOf(root: Node, order: Order): AlphabetEdge {
  const edge = { characters: new Uint8Array(128), asserts: new Set<AssertKind>() }
  addEdge(root, edge, order)
  return edge
}

/** Adds what is at an edge. Returns whether the node may match nothing, so that its neighbour is at the edge. */
function addEdge(node: Node, into: AlphabetEdge, order: Order): boolean {
  switch (node.type) {
    case 'assert':
      into.asserts.add(node.kind)
      return true
    case 'empty':
      return true
    case 'char':
    case 'set':
      addSet(node, into.characters)
      return false
    case 'concat':
      return order(node.parts).every((part) => addEdge(part, into, order))
    case 'alternate':
      return node.options.map((option) => addEdge(option, into, order)).some((isEmpty) => isEmpty)
    case 'repeat':
      return node.max === 0 || addEdge(node.node, into, order) || node.min === 0
  }
}

function addSet(node: Extract<Node, { type: 'char' | 'set' }>, into: Uint8Array): void {
  const members = node.type === 'set' ? node.set : [node.codePoint, node.codePoint]
  const set = node.type === 'char' && node.ignoreCase ? foldCase(members) : members
  for (let i = 0; i < set.length && (set[i] as number) < 128; i += 2) {
    into.fill(1, set[i], Math.min(set[i + 1] as number, 127) + 1)
  }
}
