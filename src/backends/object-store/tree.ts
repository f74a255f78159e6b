import type { Path } from '../../paths/logical-path.ts'
import type { DirectoryEntry } from '../../storage/backend.ts'
import { childIndex, countBelow, type Entry, isLeaf, keyOf, keysIn, type Leaf, type Node, type Nodes } from './nodes.ts'

/** One state of the tree. */
export interface Tree {
  /** The entry of the root directory. */
  readonly root: Entry
  readonly top: Node
}

/** The content of the one object that changes: the top of the tree. Immutable in memory. */
export interface Root extends Tree {
  /** The number of the next tag. */
  readonly next: number
  /** The ids of the last commits, in order: shows a writer that lost the response whether it succeeded. */
  readonly commits: readonly string[]
  /** The keys, below the prefix, of objects that the last commit dropped. The next commit deletes them. */
  readonly garbage: readonly string[]
}

/**
 * Returns the entry at a path, or `undefined` for a path without one. Like all functions here, it throws `MissingObject`.
 *
 * @param ahead loads the next nodes too, for callers that read in order
 */
export async function entryAt(
  nodes: Nodes,
  { root, top }: Tree,
  path: Path,
  ahead = false,
): Promise<Entry | undefined> {
  if (path === '') return root
  const key = keyOf(path)
  let node = top
  while (!isLeaf(node)) {
    const child = nodes.load(node.children, childIndex(node.children, key), ahead)
    node = child instanceof Promise ? await child : child
  }
  const index = countBelow(node.keys, key)
  return node.keys[index] === key ? node.entries[index] : undefined
}

/** Returns the entries of a directory, sorted by UTF-16 units. */
export async function entriesIn(nodes: Nodes, { top }: Tree, directory: Path): Promise<readonly DirectoryEntry[]> {
  const { from, end } = keysIn(directory)
  const found: DirectoryEntry[] = []
  for await (const { keys, entries } of leavesIn(nodes, top, from, end)) {
    for (let i = countBelow(keys, from); i < keys.length && (keys[i] as string) < end; i++) {
      found.push({ name: (keys[i] as string).slice(from.length), type: (entries[i] as Entry).type })
    }
  }
  return found
}

/** Yields the leaves that may contain keys of `[from, end)`, in order. */
export async function* leavesIn(nodes: Nodes, node: Node, from = '', end = '\uffff'): AsyncGenerator<Leaf> {
  if (isLeaf(node)) return void (yield node)
  const { children } = node
  for (let i = childIndex(children, from); i < children.length; i++) {
    if (i > 0 && (children[i]?.from as string) >= end) return
    yield* leavesIn(nodes, await nodes.load(children, i, true), from, end)
  }
}
