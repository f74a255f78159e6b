import type { Path } from '../../paths/logical-path.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import {
  type ChildNode,
  childIndex,
  type Entry,
  encodeNode,
  type Inner,
  isLeaf,
  keyOf,
  type Leaf,
  type Node,
  type Nodes,
  sharedLength,
  sizeOfChild,
  sizeOfRow,
} from './nodes.ts'
import { Batch, CONCURRENCY, type Piece } from './objects.ts'
import type { Tree } from './tree.ts'

/** Maximum estimated bytes of a leaf. A new file changes two: its own, and the one with the entry of its directory. */
const MAX_LEAF_BYTES = 20 * 1024

/** Maximum estimated bytes of an inner node. One is part of the root, and a tree of 50,000 files has no other. */
const MAX_INNER_BYTES = 32 * 1024

/** A tree after a commit. */
export interface GrownTree extends Tree {
  /** The nodes to write. */
  readonly batch: Batch
  /** The stored nodes that are not in the tree any more. */
  readonly dropped: readonly Piece[]
}

/** A node that is not stored yet. */
interface Draft {
  readonly from: string
  readonly node: Leaf | { readonly children: readonly Child[] }
  /** Estimated bytes. */
  readonly size: number
}

type Child = ChildNode | Draft
type Step = readonly [key: string, entry: Entry | undefined]

/**
 * Applies the steps of a commit: creates new nodes for the changed leaves and everything above them. Splits nodes that
 * become too large, and merges small ones with a neighbour.
 */
export async function grow(nodes: Nodes, tree: Tree, steps: ReadonlyMap<Path, Entry | undefined>): Promise<GrownTree> {
  const dropped: Piece[] = []
  const sorted = Array.from(steps)
    .filter(([path]) => path !== '')
    .map(([path, entry]): Step => [keyOf(path), entry])
    .sort(([a], [b]) => (a < b ? -1 : 1))
  let level = sorted.length === 0 ? [draftOf('', tree.top)] : await changed(nodes, '', tree.top, sorted, dropped)
  while (level.length > 1) level = splitInner('', level)
  let top = level[0]?.node ?? { keys: [], entries: [] }
  while (!isLeaf(top) && top.children.length === 1) {
    top = (await opened(nodes, top.children as readonly [Child], 0, dropped)).node
  }
  const batch = new Batch(isLeaf(top) ? 0 : countDrafts(top.children))
  const stored = isLeaf(top) ? top : { children: top.children.map((child) => store(nodes, child, batch)) }
  return { root: steps.get('' as Path) ?? tree.root, top: stored, batch, dropped }
}

/** Returns what takes the place of a node: none, one or several. */
async function changed(
  nodes: Nodes,
  from: string,
  node: Node,
  steps: readonly Step[],
  dropped: Piece[],
): Promise<readonly Draft[]> {
  if (isLeaf(node)) return splitLeaf(from, merged(node, steps))
  const { children } = node
  const stepsOf = new Map<number, Step[]>()
  for (const step of steps) {
    const index = childIndex(children, step[0])
    const others = stepsOf.get(index)
    if (others === undefined) stepsOf.set(index, [step])
    else others.push(step)
  }
  const after = children.map((child): readonly Child[] => [child])
  await mapConcurrent(
    [...stepsOf],
    async ([index, own]) => {
      const child = children[index] as ChildNode
      const loaded = await nodes.load(children, index)
      after[index] = await changed(nodes, child.from, loaded, own, dropped)
      dropped.push(child)
    },
    CONCURRENCY,
  )
  return splitInner(from, await withoutSmall(nodes, after.flat(), dropped))
}

function merged({ keys, entries }: Leaf, steps: readonly Step[]): Leaf {
  const after: { keys: string[]; entries: Entry[] } = { keys: [], entries: [] }
  let next = 0
  const keep = (until: string | undefined) => {
    for (; next < keys.length && (until === undefined || (keys[next] as string) < until); next++) {
      after.keys.push(keys[next] as string)
      after.entries.push(entries[next] as Entry)
    }
  }
  for (const [key, entry] of steps) {
    keep(key)
    if (keys[next] === key) next += 1
    if (entry === undefined) continue
    after.keys.push(key)
    after.entries.push(entry)
  }
  keep(undefined)
  return after
}

/** Merges new nodes that are small with a neighbour. */
async function withoutSmall(nodes: Nodes, children: readonly Child[], dropped: Piece[]): Promise<readonly Child[]> {
  const after: Child[] = []
  for (const [index, child] of children.entries()) {
    const previous = after.at(-1)
    if (previous === undefined || !(isSmall(previous) || isSmall(child))) {
      after.push(child)
      continue
    }
    after.pop()
    const a = await opened(nodes, [previous], 0, dropped)
    const b = await opened(nodes, children, index, dropped)
    if (isLeaf(a.node) && isLeaf(b.node)) {
      const keys = [...a.node.keys, ...b.node.keys]
      after.push(...splitLeaf(a.from, { keys, entries: [...a.node.entries, ...b.node.entries] }))
    } else if (!isLeaf(a.node) && !isLeaf(b.node)) {
      after.push(...splitInner(a.from, [...a.node.children, ...b.node.children]))
    }
  }
  return after
}

function isSmall(child: Child): boolean {
  return 'node' in child && child.size < (isLeaf(child.node) ? MAX_LEAF_BYTES : MAX_INNER_BYTES) / 4
}

/** Returns a child as a draft: loads it, and drops the stored one. */
async function opened(nodes: Nodes, children: readonly Child[], index: number, dropped: Piece[]): Promise<Draft> {
  const child = children[index] as Child
  if ('node' in child) return child
  dropped.push(child)
  return draftOf(child.from, await nodes.load([child], 0))
}

function draftOf(from: string, node: Node): Draft {
  return { from, node, size: 0 }
}

function splitLeaf(from: string, { keys, entries }: Leaf): readonly Draft[] {
  const sizes = keys.map((key, i) => sizeOfRow(key, entries[i] as Entry))
  return split(sizes, MAX_LEAF_BYTES).map(({ start, end, size }) => ({
    from: start === 0 ? from : separator(keys[start - 1] as string, keys[start] as string),
    node: { keys: keys.slice(start, end), entries: entries.slice(start, end) },
    size,
  }))
}

/** The first child takes over the `from` of the node: it gets the keys between the two. */
function splitInner(from: string, children: readonly Child[]): readonly Draft[] {
  const all = children.map((child, i) => (i === 0 ? { ...child, from } : child))
  const sizes = all.map((child, i) => sizeOfChild(child.from, all[i - 1]?.from ?? ''))
  return split(sizes, MAX_INNER_BYTES).map(({ start, end, size }) => ({
    from: all[start]?.from as string,
    node: { children: all.slice(start, end) },
    size,
  }))
}

/** Divides items into parts of about the same size: one if they fit, otherwise parts that have room. */
function split(sizes: readonly number[], max: number): { start: number; end: number; size: number }[] {
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const target = total <= max ? total : total / Math.ceil(total / ((max * 3) / 4))
  const parts: { start: number; end: number; size: number }[] = []
  for (const [i, size] of sizes.entries()) {
    const part = parts.at(-1)
    if (part === undefined || part.size + size / 2 > target || part.size + size > max) {
      parts.push({ start: i, end: i + 1, size })
    } else {
      part.end = i + 1
      part.size += size
    }
  }
  return parts
}

/** The shortest text that is greater than `below` and not greater than `key`. */
function separator(below: string, key: string): string {
  return key.slice(0, sharedLength(key, below) + 1)
}

function countDrafts(children: readonly Child[]): number {
  let count = 0
  for (const child of children) {
    if (!('node' in child)) continue
    count += 1 + (isLeaf(child.node) ? 0 : countDrafts(child.node.children))
  }
  return count
}

/** Adds a draft and all drafts below it to the batch. */
function store(nodes: Nodes, child: Child, batch: Batch): ChildNode {
  if (!('node' in child)) return child
  const { from, node: draft } = child
  const node: Leaf | Inner = isLeaf(draft)
    ? draft
    : { children: draft.children.map((below) => store(nodes, below, batch)) }
  const bytes = encodeNode(node)
  const piece = { location: batch.add(bytes), size: bytes.length }
  nodes.keep(piece, node)
  return { from, ...piece }
}
