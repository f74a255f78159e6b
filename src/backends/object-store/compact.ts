import type { Path } from '../../paths/logical-path.ts'
import { rootAfter } from './commit.ts'
import { grow } from './grow.ts'
import { newName } from './keys.ts'
import { type Entry, isLeaf, type Node, pathOf, pieceOf } from './nodes.ts'
import { Batch, type Location, MAX_PACKED_BYTES, MissingObject, objectNames, type Piece } from './objects.ts'
import { pause } from './retry.ts'
import type { Space } from './space.ts'
import { entryAt, leavesIn, type Tree } from './tree.ts'
import { openUploads, type Uploads } from './uploads.ts'

/** The number of objects with up to 1 MiB of used bytes, beyond which these are packed. */
const MAX_FRAGMENTS = 32

/** Bytes that are read and written together. */
const WINDOW_BYTES = 16 * 1024 * 1024

const MAX_ROUNDS = 10

/** The objects that a tree uses, by key, with the bytes that it uses of each. */
export type UsedObjects = ReadonlyMap<string, number>

/** Returns the objects that a tree uses. Throws `MissingObject`. */
export async function usedObjects({ nodes, keys }: Space, { top }: Tree): Promise<UsedObjects> {
  const used = new Map<string, number>()
  const add = (prefix: string, piece: Piece) => {
    for (const name of objectNames(piece)) used.set(prefix + name, (used.get(prefix + name) ?? 0) + piece.size)
  }
  const visit = async (node: Node): Promise<void> => {
    if (isLeaf(node)) {
      for (const entry of node.entries) if (entry.type === 'file') add(keys.contents, pieceOf(entry))
      return
    }
    for (const [index, child] of node.children.entries()) {
      add(keys.nodes, child)
      await visit(await nodes.load(node.children, index, true))
    }
  }
  await visit(top)
  return used
}

/**
 * Writes small contents and nodes again as packs, if they lie in many objects or in packs of which little is used. A
 * commit of others in between keeps what it wrote. The old objects stay: readers may still use them.
 */
export async function compact(space: Space, tree: Tree, used: UsedObjects): Promise<void> {
  const isContentFragment = fragmentsOf(used, space.keys.contents)
  const isNodeFragment = fragmentsOf(used, space.keys.nodes)
  if (isContentFragment === undefined && isNodeFragment === undefined) return
  const uploads = openUploads(space)
  let isOutcomeCertain = true
  try {
    const moves =
      isContentFragment === undefined ? new Map() : await moveContents(space, tree, isContentFragment, uploads)
    const touched = isNodeFragment === undefined ? [] : await firstPaths(space, tree.top, isNodeFragment)
    const id = newName()
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const base = await space.root.load()
      const steps = await stepsFor(space, base, moves, touched)
      if (steps.size === 0) break
      const grown = await grow(space.nodes, base, steps)
      await uploads.send({ contents: new Batch(0), nodes: grown.batch }, base.garbage)
      uploads.requireFresh()
      isOutcomeCertain = false
      const swapped = await space.root.swap(base, rootAfter(base, grown, { id, next: base.next, dropped: [] }), id)
      isOutcomeCertain = true
      if (swapped) return
      await uploads.discardNodes()
      await pause(round)
    }
    await uploads.discardAll()
  } catch (error) {
    if (isOutcomeCertain) await uploads.discardAll()
    // A commit has deleted an object meanwhile. The next sweep tries again.
    if (!(error instanceof MissingObject)) throw error
  }
}

/** Returns a function that recognizes pieces to move; `undefined` when there are few. */
function fragmentsOf(used: UsedObjects, prefix: string): ((piece: Piece) => boolean) | undefined {
  const names = new Set<string>()
  for (const [key, bytes] of used) {
    if (key.startsWith(prefix) && bytes <= MAX_PACKED_BYTES) names.add(key.slice(prefix.length))
  }
  const isFragment = (piece: Piece) =>
    piece.size > 0 && piece.size <= MAX_PACKED_BYTES && names.has(objectNames(piece)[0] as string)
  return names.size > MAX_FRAGMENTS ? isFragment : undefined
}

/** The old and the new location of a content. */
interface Move {
  readonly from: Location
  readonly to: Location
}

/** Writes contents as packs, in the order of the tree. */
async function moveContents(
  space: Space,
  { top }: Tree,
  isFragment: (piece: Piece) => boolean,
  uploads: Uploads,
): Promise<ReadonlyMap<Path, Move>> {
  const moves = new Map<Path, Move>()
  let waiting: (readonly [path: Path, piece: Piece])[] = []
  let bytes = 0
  const flush = async () => {
    const contents = new Batch(Number.POSITIVE_INFINITY)
    await space.contents.prefetch(waiting.map(([, piece]) => piece))
    for (const [path, piece] of waiting) {
      const to = contents.add(await space.contents.read(piece, 0, piece.size))
      moves.set(path, { from: piece.location, to })
    }
    await uploads.send({ contents, nodes: new Batch(0) }, [])
    waiting = []
    bytes = 0
  }
  for await (const { keys, entries } of leavesIn(space.nodes, top)) {
    for (const [i, entry] of entries.entries()) {
      if (entry.type !== 'file' || !isFragment(pieceOf(entry))) continue
      waiting.push([pathOf(keys[i] as string), pieceOf(entry)])
      bytes += entry.stat.size
      if (bytes > WINDOW_BYTES) await flush()
    }
  }
  await flush()
  return moves
}

/** The first path in each leaf that is a fragment. */
async function firstPaths({ nodes }: Space, top: Node, isFragment: (piece: Piece) => boolean): Promise<Path[]> {
  const paths: Path[] = []
  const visit = async (node: Node): Promise<void> => {
    if (isLeaf(node)) return
    for (const [index, child] of node.children.entries()) {
      const loaded = await nodes.load(node.children, index, true)
      if (isLeaf(loaded) && isFragment(child) && loaded.keys[0] !== undefined) paths.push(pathOf(loaded.keys[0]))
      await visit(loaded)
    }
  }
  await visit(top)
  return paths
}

/** Returns the steps that move contents and touch leaves, where no commit has changed them meanwhile. */
async function stepsFor(
  { nodes }: Space,
  base: Tree,
  moves: ReadonlyMap<Path, Move>,
  touched: readonly Path[],
): Promise<ReadonlyMap<Path, Entry>> {
  const steps = new Map<Path, Entry>()
  for (const path of touched) {
    const entry = await entryAt(nodes, base, path, true)
    if (entry !== undefined) steps.set(path, entry)
  }
  for (const [path, { from, to }] of moves) {
    const entry = await entryAt(nodes, base, path, true)
    if (entry?.type === 'file' && entry.content === from) steps.set(path, { ...entry, content: to })
  }
  return steps
}
