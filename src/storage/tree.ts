import type { Path } from '../paths/logical-path.ts'
import type { DirectoryNode, Stat, TreeNode } from './backend.ts'

/*
 * A persistent tree for backends in memory. Nodes are immutable: a change creates new nodes from its directory up to the
 * root and shares all others. A directory is an array of sorted chunks, so that a change among 10,000 entries copies one
 * chunk of at most 64 entries and the list of chunks.
 */

/** Creates a directory. The entries must be sorted by UTF-16 code units, without duplicates. */
export function directoryNode(stat: Stat, entries: readonly (readonly [string, TreeNode])[] = []): DirectoryNode {
  const chunks: Chunk[] = []
  for (let start = 0; start < entries.length; start += FILLED_CHUNK) {
    const part = entries.slice(start, start + FILLED_CHUNK)
    chunks.push({ names: part.map(([name]) => name), nodes: part.map(([, node]) => node) })
  }
  return makeDirectory(stat, chunks)
}

/** Returns the directory with one entry added or replaced, and the given stat. */
export function withEntry(
  directory: DirectoryNode,
  name: string,
  node: TreeNode,
  stat: Stat = directory.stat,
): DirectoryNode {
  const { chunks } = directory as ChunkedDirectory
  if (chunks.length === 0) return makeDirectory(stat, [{ names: [name], nodes: [node] }])
  const at = chunkFor(chunks, name)
  const chunk = chunks[at] as Chunk
  const index = lowerBound(chunk.names, name)
  if (chunk.names[index] === name) {
    return makeDirectory(stat, replaced(chunks, at, { names: chunk.names, nodes: replaced(chunk.nodes, index, node) }))
  }
  const names = inserted(chunk.names, index, name)
  const nodes = inserted(chunk.nodes, index, node)
  if (names.length <= FULL_CHUNK) return makeDirectory(stat, replaced(chunks, at, { names, nodes }))
  // Appending, as a sorted load does, leaves filled chunks behind.
  const half = index === FULL_CHUNK ? FILLED_CHUNK : names.length >> 1
  const copy = chunks.slice()
  copy.splice(
    at,
    1,
    { names: names.slice(0, half), nodes: nodes.slice(0, half) },
    { names: names.slice(half), nodes: nodes.slice(half) },
  )
  return makeDirectory(stat, copy)
}

/** Returns the directory without an entry, and with the given stat; the same directory if it has no such entry. */
export function withoutEntry(directory: DirectoryNode, name: string, stat: Stat = directory.stat): DirectoryNode {
  const { chunks } = directory as ChunkedDirectory
  if (chunks.length === 0) return directory
  const at = chunkFor(chunks, name)
  const chunk = chunks[at] as Chunk
  const index = lowerBound(chunk.names, name)
  if (chunk.names[index] !== name) return directory
  const copy = chunks.slice()
  copy.splice(at, 1, { names: removed(chunk.names, index), nodes: removed(chunk.nodes, index) })
  mergeIfSmall(copy, at)
  mergeIfSmall(copy, at - 1)
  return makeDirectory(stat, copy)
}

/** Returns the node at a path, or undefined. Follows no link. */
export function nodeAt(root: DirectoryNode, path: Path): TreeNode | undefined {
  if (path === '') return root
  let directory = root
  let start = 0
  for (;;) {
    const slash = path.indexOf('/', start)
    if (slash === -1) return directory.get(start === 0 ? path : path.slice(start))
    const node = directory.get(path.slice(start, slash))
    if (node?.type !== 'directory') return undefined
    directory = node
    start = slash + 1
  }
}

/** Returns {@link nodeAt} for many paths of one tree. Fastest if paths of one or two directories follow each other. */
export function nodeFinder(root: DirectoryNode): (path: Path) => TreeNode | undefined {
  let last = new TreeEditor(root)
  // A move names paths of two directories in turn.
  let other = new TreeEditor(root)
  // A call looks the same path up several times.
  let lastPath: Path | undefined
  let node: TreeNode | undefined
  return (path) => {
    if (path !== lastPath) {
      if (!last.isNear(path)) [last, other] = [other, last]
      node = last.get(path)
      lastPath = path
    }
    return node
  }
}

/** A directory that an editor has open. */
interface OpenDirectory {
  readonly name: string
  directory: DirectoryNode
  isChanged: boolean
}

/**
 * Looks up and changes many paths of a tree. It keeps the directories from the root to the last path open, so the cost of a
 * path is its distance from the one before it, and that of a directory is paid once.
 */
export class TreeEditor {
  readonly #root: OpenDirectory
  readonly #open: OpenDirectory[] = []
  /** The path of the innermost open directory with a slash at its end; empty for the root. */
  #prefix = ''

  constructor(root: DirectoryNode) {
    this.#root = { name: '', directory: root, isChanged: false }
  }

  /** Whether a path is in one of the open directories, but not in the root. */
  isNear(path: Path): boolean {
    const parent = path.slice(0, path.lastIndexOf('/') + 1)
    return parent !== '' && (parent.startsWith(this.#prefix) ? this.#prefix !== '' : this.#prefix.startsWith(parent))
  }

  /** Returns the node at a path, or undefined. Follows no link. */
  get(path: Path): TreeNode | undefined {
    if (path === '') return this.finish()
    return this.#enter(path)?.directory.get(path.slice(this.#prefix.length))
  }

  /**
   * Sets the node at a path, or removes it with `undefined`. The parent must exist. `touch` returns the new stat of the
   * parent if its names or their types change; directories further up keep their stat.
   */
  set(path: Path, node: TreeNode | undefined, touch: (parent: DirectoryNode) => Stat): void {
    const parent = this.#enter(path)
    if (parent === undefined) {
      if (node === undefined) return
      throw new Error('The parent of a changed path must be a directory')
    }
    const { directory } = parent
    const name = path.slice(this.#prefix.length)
    const present = directory.get(name)
    if (node === undefined) {
      if (present === undefined) return
      parent.directory = withoutEntry(directory, name, touch(directory))
    } else {
      const stat = present?.type === node.type ? directory.stat : touch(directory)
      parent.directory = withEntry(directory, name, node, stat)
    }
    parent.isChanged = true
  }

  /** Returns the tree with all changes. */
  finish(): DirectoryNode {
    while (this.#open.length > 0) this.#leave()
    return this.#root.directory
  }

  /** Opens the parent of a path. Returns `undefined` if it is not a directory. */
  #enter(path: Path): OpenDirectory | undefined {
    const nameStart = path.lastIndexOf('/') + 1
    while (this.#prefix.length > nameStart || !path.startsWith(this.#prefix)) this.#leave()
    for (let start = this.#prefix.length; start < nameStart; start = this.#prefix.length) {
      const slash = path.indexOf('/', start)
      const name = path.slice(start, slash)
      const node = this.#last().directory.get(name)
      if (node?.type !== 'directory') return undefined
      this.#open.push({ name, directory: node, isChanged: false })
      this.#prefix = path.slice(0, slash + 1)
    }
    return this.#last()
  }

  #last(): OpenDirectory {
    return this.#open.at(-1) ?? this.#root
  }

  /** Closes the innermost directory, and puts it into its parent if it has changed. */
  #leave(): void {
    const { name, directory, isChanged } = this.#open.pop() as OpenDirectory
    this.#prefix = this.#prefix.slice(0, -name.length - 1)
    if (!isChanged) return
    const parent = this.#last()
    parent.directory = withEntry(parent.directory, name, directory)
    parent.isChanged = true
  }
}

/** {@link TreeEditor.set} for one path. */
export function withNodeAt(
  root: DirectoryNode,
  path: Path,
  node: TreeNode | undefined,
  touch: (parent: DirectoryNode) => Stat,
): DirectoryNode {
  const editor = new TreeEditor(root)
  editor.set(path, node, touch)
  return editor.finish()
}

/**
 * Visits every name whose node differs between two directories, sorted. Shared chunks are skipped, so the cost is
 * proportional to the changes.
 */
export function forEachDifference(
  before: DirectoryNode,
  after: DirectoryNode,
  visit: (name: string, before: TreeNode | undefined, after: TreeNode | undefined) => void,
): void {
  const older = chunksOf(before)
  const newer = chunksOf(after)
  let olderChunk = 0
  let newerChunk = 0
  let i = 0
  let k = 0
  while (olderChunk < older.length || newerChunk < newer.length) {
    const a = older[olderChunk]
    const b = newer[newerChunk]
    if (a === b && i === 0 && k === 0) {
      olderChunk += 1
      newerChunk += 1
      continue
    }
    // A chunk in which entries were only replaced shares its array of names.
    if (a !== undefined && b !== undefined && a.names === b.names && i === 0 && k === 0) {
      for (let at = 0; at < a.names.length; at++) {
        if (a.nodes[at] !== b.nodes[at]) visit(a.names[at] as string, a.nodes[at], b.nodes[at])
      }
      olderChunk += 1
      newerChunk += 1
      continue
    }
    const first = a?.names[i]
    const second = b?.names[k]
    const isOld = second === undefined || (first !== undefined && first <= second)
    const isNew = first === undefined || (second !== undefined && second <= first)
    const oldNode = isOld ? a?.nodes[i] : undefined
    const newNode = isNew ? b?.nodes[k] : undefined
    if (oldNode !== newNode) visit((isOld ? first : second) as string, oldNode, newNode)
    if (isOld && a !== undefined && ++i === a.names.length) {
      i = 0
      olderChunk += 1
    }
    if (isNew && b !== undefined && ++k === b.names.length) {
      k = 0
      newerChunk += 1
    }
  }
}

/** Returns the chunks of a directory made here, or one chunk with all entries of another implementation. */
function chunksOf(directory: DirectoryNode): readonly Chunk[] {
  const { chunks } = directory as Partial<ChunkedDirectory>
  if (chunks !== undefined) return chunks
  const entries = [...directory.entries()]
  return entries.length === 0 ? [] : [{ names: entries.map(([name]) => name), nodes: entries.map(([, node]) => node) }]
}

const FULL_CHUNK = 64
const FILLED_CHUNK = 48
const MERGED_CHUNK = 32

interface Chunk {
  readonly names: readonly string[]
  readonly nodes: readonly TreeNode[]
}

interface ChunkedDirectory extends DirectoryNode {
  readonly chunks: readonly Chunk[]
}

// The methods are shared and use `this`: a directory node costs one object, not closures.
function makeDirectory(stat: Stat, chunks: readonly Chunk[]): DirectoryNode {
  const directory: ChunkedDirectory = { type: 'directory', stat, chunks, entries: allEntries, get: getEntry }
  return directory
}

function* allEntries(this: DirectoryNode): Iterable<readonly [string, TreeNode]> {
  for (const { names, nodes } of (this as ChunkedDirectory).chunks) {
    for (let i = 0; i < names.length; i++) yield [names[i] as string, nodes[i] as TreeNode]
  }
}

function getEntry(this: DirectoryNode, name: string): TreeNode | undefined {
  const { chunks } = this as ChunkedDirectory
  if (chunks.length === 0) return undefined
  const chunk = chunks[chunks.length === 1 ? 0 : chunkFor(chunks, name)] as Chunk
  const index = lowerBound(chunk.names, name)
  return chunk.names[index] === name ? chunk.nodes[index] : undefined
}

/** Merges a chunk with the next one if both are small, so that removals do not leave many tiny chunks. */
function mergeIfSmall(chunks: Chunk[], at: number): void {
  const chunk = chunks[at]
  const next = chunks[at + 1]
  if (chunk === undefined) return
  if (chunk.names.length === 0) chunks.splice(at, 1)
  else if (next !== undefined && chunk.names.length + next.names.length <= MERGED_CHUNK) {
    chunks.splice(at, 2, { names: [...chunk.names, ...next.names], nodes: [...chunk.nodes, ...next.nodes] })
  }
}

/** Returns the index of the chunk for a name: the last one that does not begin after it. */
function chunkFor(chunks: readonly Chunk[], name: string): number {
  let low = 0
  let high = chunks.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (((chunks[middle] as Chunk).names[0] as string) <= name) low = middle
    else high = middle - 1
  }
  return low
}

function lowerBound(names: readonly string[], name: string): number {
  let low = 0
  let high = names.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((names[middle] as string) < name) low = middle + 1
    else high = middle
  }
  return low
}

function replaced<T>(items: readonly T[], index: number, item: T): T[] {
  const copy = items.slice()
  copy[index] = item
  return copy
}

function inserted<T>(items: readonly T[], index: number, item: T): T[] {
  const copy = items.slice()
  copy.splice(index, 0, item)
  return copy
}

function removed<T>(items: readonly T[], index: number): T[] {
  const copy = items.slice()
  copy.splice(index, 1)
  return copy
}
