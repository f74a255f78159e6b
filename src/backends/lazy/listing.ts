import { ToolError } from '../../errors.ts'
import { nameOf, type Path, parentOf, parsePath, ROOT } from '../../paths/logical-path.ts'
import type { DirectoryEntry, Stat } from '../../storage/backend.ts'
import { FILE_MODE } from '../../storage/plan-commit.ts'
import type { LazyContent, LazyEntry, LazyOther } from './source.ts'

/** The largest number of entries of a source, with the directories above them. */
export const MAX_ENTRIES = 1_000_000

/** Bytes of the longest target of a link. */
export const MAX_TARGET_BYTES = 4095

/** A path of a source that is not shown, or that cannot be read, and the reason. */
export interface Omitted {
  /** As the source lists it. */
  readonly path: string
  readonly reason: string
}

/** A node of a listing. */
export type LazyNode<E extends LazyEntry> =
  | LazyDirectoryNode
  | { readonly type: 'file' | 'link'; readonly stat: Stat; readonly entry: LazyContent<E> }
  | { readonly type: 'other'; readonly stat: Stat }

/** An entry that has a node. */
type Shown<E extends LazyEntry> = Exclude<E, { readonly type: 'omitted' }>

/** All entries of a source. It does not change. */
export interface Listing<E extends LazyEntry> {
  readonly nodes: ReadonlyMap<Path, LazyNode<E>>
  readonly omitted: readonly Omitted[]
}

/** Sources without versions need tags that no other listing has. */
let listings = 0

/**
 * Returns the tree of the entries. Omits paths that the guard refuses, paths that are listed twice, and what is listed
 * below something that is not a directory.
 *
 * @throws ToolError `LIMIT_EXCEEDED` for too many entries, `BACKEND_ERROR` for an entry of an unknown form
 */
export function createListing<E extends LazyEntry>(entries: Iterable<E>): Listing<E> {
  const omitted: Omitted[] = []
  const unique = uniquePaths(entries, omitted)
  const nodes = new Map<Path, LazyNode<E>>([[ROOT, directoryNode()]])
  listings += 1
  const own = `lazy${listings}:`
  const isBelowDirectories = placeCheck(unique, nodes)
  for (const [path, entry] of unique) {
    if (entry === undefined) continue
    if (!isBelowDirectories(path)) {
      omitted.push({ path: entry.path, reason: 'a part of its path is not a directory' })
      continue
    }
    if (entry.type === 'other') omitted.push({ path: entry.path, reason: entry.reason })
    addNode(nodes, path, nodeOf(entry, `${own}${nodes.size}`))
  }
  for (const node of nodes.values()) {
    if (node.type === 'directory') node.entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  }
  return { nodes, omitted }
}

/** Returns the entries with a valid path. `undefined` for a path that is listed as different things, or twice. */
function uniquePaths<E extends LazyEntry>(entries: Iterable<E>, omitted: Omitted[]): Map<Path, Shown<E> | undefined> {
  const unique = new Map<Path, Shown<E> | undefined>()
  let count = 0
  for (const entry of entries) {
    count += 1
    if (count > MAX_ENTRIES) throw tooMany()
    requireForm(entry)
    if (entry.type === 'omitted') {
      omitted.push({ path: entry.path, reason: entry.reason })
      continue
    }
    const path = validPath(entry.path)
    if (path === undefined) {
      omitted.push({ path: entry.path, reason: 'the name is not allowed' })
      continue
    }
    const other = unique.get(path)
    if (!unique.has(path)) unique.set(path, entry as Shown<E>)
    else if (other?.type !== 'directory' || entry.type !== 'directory') {
      if (other !== undefined) omitted.push({ path: other.path, reason: LISTED_TWICE })
      omitted.push({ path: entry.path, reason: LISTED_TWICE })
      unique.set(path, undefined)
    }
  }
  return unique
}

const LISTED_TWICE = 'the path is listed more than once'

function validPath(text: string): Path | undefined {
  try {
    return parsePath(text) === text && text !== '' ? (text as Path) : undefined
  } catch {
    return undefined
  }
}

/** Returns a function: whether nothing but directories is listed above a path. It looks at each directory once. */
function placeCheck<E extends LazyEntry>(
  unique: ReadonlyMap<Path, Shown<E> | undefined>,
  nodes: ReadonlyMap<Path, LazyNode<E>>,
): (path: Path) => boolean {
  /** Paths above which something else than a directory is listed, or that are not directories themselves. */
  const blocked = new Set<Path>()
  return (path) => {
    const visited: Path[] = []
    // The directories above one that has a node were looked at with it.
    for (let above = parentOf(path); nodes.get(above)?.type !== 'directory'; above = parentOf(above)) {
      visited.push(above)
      if (!blocked.has(above) && (!unique.has(above) || unique.get(above)?.type === 'directory')) continue
      for (const one of visited) blocked.add(one)
      if (blocked.size > MAX_ENTRIES) throw tooMany()
      return false
    }
    return true
  }
}

function addNode<E extends LazyEntry>(nodes: Map<Path, LazyNode<E>>, path: Path, node: LazyNode<E>): void {
  let [at, added] = [path, node]
  // The directory may have been added with an entry below it.
  while (!nodes.has(at)) {
    nodes.set(at, added)
    if (nodes.size > MAX_ENTRIES) throw tooMany()
    const above = parentOf(at)
    const parent = nodes.get(above)
    const directory = parent?.type === 'directory' ? parent : directoryNode()
    directory.entries.push({ name: nameOf(at), type: added.type })
    at = above
    added = directory
  }
}

interface LazyDirectoryNode {
  readonly type: 'directory'
  readonly stat: Stat
  /** Sorted by name. */
  readonly entries: DirectoryEntry[]
}

function directoryNode(): LazyDirectoryNode {
  return { type: 'directory', stat: DIRECTORY_STAT, entries: [] }
}

const DIRECTORY_STAT: Stat = Object.freeze({ type: 'directory', size: 0, mode: 0o755, tag: 'lazy' })
const LINK_MODE = 0o777

function nodeOf<E extends LazyEntry>(entry: Shown<E>, tag: string): LazyNode<E> {
  const { type } = entry
  if (type === 'directory') return directoryNode()
  if (type === 'other') return { type, stat: { type, size: 0, mode: FILE_MODE, tag } }
  const content = entry as unknown as LazyContent<E>
  if (type === 'link') return { type, stat: { type, size: 0, mode: LINK_MODE, tag }, entry: content }
  const { size, mode = FILE_MODE, sha256, version = sha256 } = entry
  const stat: Stat = { type, size, mode, tag: version === undefined ? tag : `lazy:${mode.toString(8)}:${version}` }
  return { type, stat, entry: content }
}

/** @throws ToolError for an entry that no source may list */
function requireForm(entry: LazyEntry): void {
  const { path, type, reason = '' } = Object(entry) as Partial<LazyOther>
  const isEntry = typeof path === 'string' && ['file', 'link', 'directory', 'other', 'omitted'].includes(type ?? '')
  if (!isEntry) throw unknownForm('an entry without a path or a type')
  if (typeof reason !== 'string') throw unknownForm('an entry whose reason is not a string')
  if (entry.type === 'link' && entry.target !== undefined && typeof entry.target !== 'string') {
    throw unknownForm('a link whose target is not a string')
  }
  if (entry.type !== 'file') return
  const { size, mode = 0, sha256 = NO_HASH, version = '' } = entry
  if (!Number.isSafeInteger(size) || size < 0) throw unknownForm('a file without a size in bytes')
  if (!Number.isInteger(mode) || mode < 0 || mode > 0o7777) throw unknownForm('a file with unknown permission bits')
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw unknownForm('a file whose sha256 is not 64 lower-case hex digits')
  if (typeof version !== 'string') throw unknownForm('a file whose version is not a string')
}

const NO_HASH = '0'.repeat(64)

function unknownForm(what: string): ToolError {
  return new ToolError('BACKEND_ERROR', `Cannot list the files: the source listed ${what}`)
}

/** The error for a source that lists too much. */
export function tooMany(): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot list the files: there are more than ${MAX_ENTRIES} entries`, {
    limit: 'entries of a source that is loaded on demand',
    value: MAX_ENTRIES,
  })
}
