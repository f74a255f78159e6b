import { ToolError } from '../../errors.ts'
import { childOf, nameOf, type Path, parentOf, parsePath } from '../../paths/logical-path.ts'
import type { StoredEntry } from '../../storage/plan-commit.ts'
import { createLruCache } from '../../util/lru-cache.ts'
import { type Location, type Objects, type Piece, parseLocation } from './objects.ts'

/*
 * The tree is a B-tree over all entries. A key is the parent directory and the name, so that the entries of a directory
 * are neighbours however many there are. Nodes are immutable.
 */

/** An entry of the tree. The content of a file is its location. */
export type Entry = StoredEntry<Location>

export type FileEntry = Extract<Entry, { readonly type: 'file' }>

/** Entries, sorted by key. */
export interface Leaf {
  readonly keys: readonly string[]
  readonly entries: readonly Entry[]
}

/** The nodes of the next level, sorted. */
export interface Inner {
  readonly children: readonly ChildNode[]
}

/** A stored node. It contains the keys from `from` to the `from` of its next sibling. */
export interface ChildNode extends Piece {
  readonly from: string
}

export type Node = Leaf | Inner

/** The nodes of a store. */
export interface Nodes {
  /** Loads a child; for a walk in order also the siblings after it. Throws `MissingObject`. */
  load(children: readonly ChildNode[], index: number, ahead?: boolean): Node | Promise<Node>
  /** Keeps a node that was just written. */
  keep(piece: Piece, node: Node): void
}

export function isLeaf(node: Leaf | { readonly children: unknown }): node is Leaf {
  return 'keys' in node
}

/** The key of a path other than the root. */
export function keyOf(path: Path): string {
  return `${parentOf(path)}\0${nameOf(path)}`
}

/** The keys of all entries of a directory are `[from, end)`. */
export function keysIn(directory: Path): { readonly from: string; readonly end: string } {
  return { from: `${directory}\0`, end: `${directory}\x01` }
}

/** The path of a key. */
export function pathOf(key: string): Path {
  const at = key.indexOf('\0')
  return childOf(key.slice(0, at) as Path, key.slice(at + 1))
}

/** The number of sorted keys that are less than `key`. */
export function countBelow(keys: readonly string[], key: string): number {
  let low = 0
  for (let high = keys.length; low < high; ) {
    const middle = (low + high) >>> 1
    if ((keys[middle] as string) < key) low = middle + 1
    else high = middle
  }
  return low
}

/** The index of the child that contains a key. */
export function childIndex(children: readonly ChildNode[], key: string): number {
  let low = 0
  for (let high = children.length - 1; low < high; ) {
    const middle = (low + high + 1) >>> 1
    if ((children[middle] as ChildNode).from <= key) low = middle
    else high = middle - 1
  }
  return low
}

/** The bytes of nodes, as stored, that stay in memory. */
const CACHE_BYTES = 16 * 1024 * 1024

/** The maximum number of siblings that a walk loads ahead, and their bytes. */
const MAX_AHEAD_BYTES = 2 * 1024 * 1024

export function openNodes(objects: Objects): Nodes {
  const cache = createLruCache<Location, { readonly node: Node; readonly size: number }>(
    CACHE_BYTES,
    ({ size }) => size,
  )
  const loading = new Map<Location, Promise<Node>>()

  async function request(child: ChildNode, ahead: readonly ChildNode[]): Promise<Node> {
    if (ahead.length > 0) await objects.prefetch([child, ...ahead])
    const node = decodeNode(await objects.read(child, 0, child.size))
    cache.put(child.location, { node, size: child.size })
    return node
  }

  return {
    keep: ({ location, size }, node) => cache.put(location, { node, size }),

    load(children, index, ahead = false) {
      const child = children[index] as ChildNode
      const kept = cache.get(child.location)
      if (kept !== undefined) return kept.node
      let request_ = loading.get(child.location)
      if (request_ === undefined) {
        const others = ahead && objects.cached(child.location) === undefined ? siblingsAfter(children, index) : []
        request_ = request(
          child,
          others.filter(({ location }) => cache.get(location) === undefined),
        ).finally(() => loading.delete(child.location))
        loading.set(child.location, request_)
      }
      return request_
    },
  }
}

/** The next siblings, up to a number of bytes. */
function siblingsAfter(children: readonly ChildNode[], index: number): readonly ChildNode[] {
  let bytes = 0
  let end = index + 1
  while (end < children.length && bytes <= MAX_AHEAD_BYTES) bytes += children[end++]?.size ?? 0
  return children.slice(index + 1, end)
}

/** An entry as stored: name, tag, time, and the fields of its type. The length shows the type. */
type Row =
  | readonly [name: string, tag: string, at: Repeated<number>]
  | readonly [name: string, tag: string, at: Repeated<number>, target: string]
  | readonly [
      name: string,
      tag: string,
      at: Repeated<number>,
      mode: number,
      size: number,
      sha256: string,
      content: StoredLocation,
    ]

/** `null` repeats the value of the previous row. */
type Repeated<T> = T | null

/** A number is an offset in the pack of the previous location. */
type StoredLocation = Location | number

/** A node as JSON: rows by directory, or children. */
export type StoredNode =
  | { readonly rows: readonly (readonly [directory: string, rows: readonly Row[]])[] }
  | { readonly children: readonly StoredChild[] }

/** A child without the beginning of its key that equals the key of the previous child. */
type StoredChild = readonly [shared: number, from: string, location: StoredLocation, size: number]

/** The estimated bytes of an entry in a node. */
export function sizeOfRow(key: string, entry: Entry): number {
  const variable = key.length - key.indexOf('\0') + entry.stat.tag.length
  if (entry.type === 'directory') return variable + 24
  return entry.type === 'link' ? variable + 28 + entry.target.length : variable + 120
}

/** The estimated bytes of a child in a node, after the key of the previous child. */
export function sizeOfChild(from: string, previous: string): number {
  return from.length - sharedLength(from, previous) + 36
}

/** The length of the beginning that two texts share. */
export function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

export function toStored(node: Node): StoredNode {
  const shorten = locationShortener()
  if (!isLeaf(node)) {
    const children = node.children.map(({ from, location, size }, i): StoredChild => {
      const shared = sharedLength(from, node.children[i - 1]?.from ?? '')
      return [shared, from.slice(shared), shorten(location), size]
    })
    return { children }
  }
  const rows: [string, Row[]][] = []
  let time: number | undefined
  for (const [i, key] of node.keys.entries()) {
    const separator = key.indexOf('\0')
    const directory = key.slice(0, separator)
    if (rows.at(-1)?.[0] !== directory) rows.push([directory, []])
    const entry = node.entries[i] as Entry
    const { tag, modifiedAt, mode, size } = entry.stat
    const shared = [key.slice(separator + 1), tag, modifiedAt === time ? null : modifiedAt] as const
    time = modifiedAt
    rows
      .at(-1)?.[1]
      .push(
        entry.type === 'file'
          ? [...shared, mode, size, entry.sha256, shorten(entry.content)]
          : entry.type === 'link'
            ? [...shared, entry.target]
            : shared,
      )
  }
  return { rows }
}

/** @throws Error for a malformed node */
export function fromStored(stored: StoredNode): Node {
  const expand = locationExpander()
  if ('children' in stored) {
    let from = ''
    const children = stored.children.map(([shared, rest, location, size]) => {
      from = from.slice(0, shared) + rest
      return { from, location: expand(location), size }
    })
    if (children.length === 0 || !children.every(isChild)) throw new Error('A node has no children')
    return { children }
  }
  const keys: string[] = []
  const entries: Entry[] = []
  let time = 0
  for (const [directory, rows] of stored.rows) {
    for (const row of rows) {
      const path = childOf(directory as Path, row[0])
      if (parsePath(path) !== path) throw new Error('A node contains a path that is not normalized')
      const key = `${directory}\0${row[0]}`
      if (keys.length > 0 && (keys.at(-1) as string) >= key) throw new Error('The keys of a node are not sorted')
      keys.push(key)
      time = row[2] ?? time
      entries.push(entryOf(row, time, expand))
    }
  }
  return { keys, entries }
}

export function encodeNode(node: Node): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(toStored(node)))
}

/** @throws ToolError for a malformed node */
function decodeNode(bytes: Uint8Array): Node {
  try {
    return fromStored(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as StoredNode)
  } catch {
    throw new ToolError('BACKEND_ERROR', 'The tree of this workspace cannot be read: it is damaged')
  }
}

function locationShortener(): (location: Location) => StoredLocation {
  let pack = ''
  return (location) => {
    const { name, offset } = parseLocation(location)
    if (offset === undefined) return location
    if (name === pack) return offset
    pack = name
    return location
  }
}

function locationExpander(): (location: StoredLocation) => Location {
  let pack = ''
  return (location) => {
    if (typeof location === 'number') return `${pack}@${location}`
    const { name, offset } = parseLocation(location)
    if (offset !== undefined) pack = name
    return location
  }
}

function isChild({ from, size }: ChildNode): boolean {
  return typeof from === 'string' && Number.isSafeInteger(size)
}

function entryOf(row: Row, at: number, expand: (location: StoredLocation) => Location): Entry {
  const [, tag] = row
  if (row.length === 3) return directoryEntry(tag, at)
  if (row.length === 4) return linkEntry(tag, at, row[3])
  const [, , , mode, size, sha256, content] = row
  if (row.length !== 7 || !Number.isSafeInteger(size)) throw new Error('A node contains an entry of an unknown type')
  return fileEntry(tag, at, { mode, size, sha256, content: expand(content) })
}

/** The content of a file. */
export function pieceOf({ content, stat }: FileEntry): Piece {
  return { location: content, size: stat.size }
}

export function directoryEntry(tag: string, modifiedAt: number): Entry {
  return { type: 'directory', stat: { type: 'directory', size: 0, modifiedAt, tag, mode: 0o755 } }
}

export function linkEntry(tag: string, modifiedAt: number, target: string): Entry {
  return { type: 'link', stat: { type: 'link', size: 0, modifiedAt, tag, mode: 0o777 }, target }
}

export function fileEntry(
  tag: string,
  modifiedAt: number,
  file: { readonly mode: number; readonly size: number; readonly sha256: string; readonly content: Location },
): Entry {
  const { mode, size, sha256, content } = file
  return { type: 'file', stat: { type: 'file', size, modifiedAt, tag, mode }, sha256, content }
}
