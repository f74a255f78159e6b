import { ToolError } from '../errors.ts'
import { sha256Kept } from '../files/version.ts'
import {
  ancestorsOf,
  display,
  type LogicalPath,
  nameOf,
  type Path,
  parentOf,
  parsePath,
  quote,
} from '../paths/logical-path.ts'
import type {
  Backend,
  Capabilities,
  Change,
  DirectoryNode,
  FileNode,
  LinkNode,
  Stat,
  TreeNode,
  Version,
} from '../vfs/backend.ts'
import { canonicalSync, type Seen } from '../vfs/canonical.ts'
import { applyOrder, judgeChanges, linkTarget, throwIfAborted } from '../vfs/changes.ts'
import { directoryNode, nodeAt, nodeFinder, withNodeAt } from '../vfs/tree.ts'

/** What a file of {@link memory} can be given as. Bytes are taken over: nobody may write into them afterwards. */
export type MemoryEntry =
  | string
  | Uint8Array
  | { readonly text: string; readonly mode?: number }
  | { readonly bytes: Uint8Array; readonly mode?: number }
  | { readonly link: string }
  | { readonly directory: true }

export interface MemoryOptions {
  /** The time, in milliseconds since 1970, of what is there from the start and of commits that tell none. Default: 0. */
  readonly clock?: () => number
}

/** A {@link memory} backend: it always can show its tree, fork and scan. */
export interface MemoryBackend extends Backend {
  tree(): DirectoryNode
  fork(): MemoryBackend
  scan(paths: readonly Path[], visit: (path: Path, bytes: Uint8Array, stat: Stat) => boolean): Promise<void>
}

/**
 * A backend in memory on a persistent tree: `fork()` and `tree()` take no time however large it is, a commit swaps the
 * root. Keys are paths, values are text, bytes, links or directories; parents are made.
 *
 * Nothing is copied: bytes given in belong to the backend, bytes read are the stored ones and must not be written to.
 * The same calls give the same tags and times: without a `clock`, and where a commit tells no time, the time is 0.
 * A directory's tag and time change with the names in it, not with what the files there hold.
 *
 * @throws TypeError for a path that the guard refuses, a file below a file, a path given twice, a link that leads outside
 * @example
 * ```ts
 * const backend = memory({ 'src/app.ts': 'export const answer = 41\n', 'bin/run': { text: '#!/bin/sh\n', mode: 0o755 } })
 * ```
 */
export function memory(files: Readonly<Record<string, MemoryEntry>> = {}, options: MemoryOptions = {}): MemoryBackend {
  const clock = options.clock ?? (() => 0)
  const tags = tagCounter('')
  return backendOver(loadTree(files, clock(), tags), clock, tags)
}

const capabilities: Capabilities = Object.freeze({
  links: true,
  modes: true,
  times: 'set',
  caseSensitive: true,
  authority: 'sole',
  lasting: false,
  atomic: 'set',
})

const FILE_MODE = 0o644
const DIRECTORY_MODE = 0o755
const LINK_MODE = 0o777

const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

function backendOver(initial: DirectoryNode, clock: () => number, tags: TagCounter): MemoryBackend {
  let root = initial

  const view = {
    at: (path: Path) => nodeAt(root, path),
    sha256: (node: TreeNode) => hashOf(node as HashedFile),
    *names(path: Path): Iterable<string> {
      const node = nodeAt(root, path)
      if (node?.type === 'directory') for (const [name] of node.entries()) yield name
    },
  }

  const look = (path: Path): Seen => {
    const node = nodeAt(root, path)
    return node?.type === 'link' ? { link: node.target } : node
  }

  return {
    capabilities,

    async canonical(path, how) {
      const node = nodeAt(root, path as Path)
      if (node !== undefined && (node.type !== 'link' || how?.keepLast)) return path as Path
      return canonicalSync(look, path, how?.keepLast ?? false)
    },

    async stat(path) {
      return nodeAt(root, path)?.stat
    },

    async list(path) {
      const node = nodeAt(root, path)
      if (node?.type !== 'directory') throw wrongType(root, 'list', path, node)
      return Array.from(node.entries(), ([name, { type }]) => ({ name, type }))
    },

    async read(path, range) {
      const node = nodeAt(root, path)
      if (node?.type !== 'file') throw wrongType(root, 'read', path, node)
      if (range === undefined) return { bytes: node.bytes, stat: node.stat }
      if (range.tag !== undefined && range.tag !== node.stat.tag) {
        throw new ToolError('WRITE_CONFLICT', `Cannot read ${quote(path)}: it changed in the meantime`, {
          path,
          currentSha256: hashOf(node),
        })
      }
      const start = Math.max(0, range.start)
      return { bytes: node.bytes.subarray(start, Math.max(start, range.end)), stat: node.stat }
    },

    async readLink(path) {
      const node = nodeAt(root, path)
      if (node?.type !== 'link') throw wrongType(root, 'read link', path, node)
      return node.target
    },

    async commit(changes, how) {
      throwIfAborted(how.signal)
      const before = judgeChanges(changes, view)
      const at = how.at ?? clock()
      let draft = root
      const touch = (parent: DirectoryNode): Stat => ({ ...parent.stat, modifiedAt: at, tag: tags.next() })
      for (const change of applyOrder(changes)) draft = applied(draft, root, change, at, tags, touch)
      root = draft
      return {
        applied: changes.map(({ path, to }, i) => ({
          path,
          before: versionOf(before[i]),
          after: to === null ? null : versionOf(nodeAt(draft, path)),
        })),
      }
    },

    async scan(paths, visit) {
      const find = nodeFinder(root)
      for (const path of paths) {
        const node = find(path)
        if (node?.type === 'file' && !visit(path, node.bytes, node.stat)) return
      }
    },

    tree: () => root,
    fork: () => backendOver(root, clock, tags.fork()),
    async close() {},
  }
}

/** The draft with one change in it. `present` is the tree before the set, for what a change takes over. */
function applied(
  draft: DirectoryNode,
  present: DirectoryNode,
  { path, to, from }: Change,
  at: number,
  tags: TagCounter,
  touch: (parent: DirectoryNode) => Stat,
): DirectoryNode {
  if (to === null) return withNodeAt(draft, path, undefined, touch)
  if (to.type === 'directory') {
    if (nodeAt(draft, path)?.type === 'directory') return draft
    return withNodeAt(draft, path, directoryNode(directoryStat(at, tags)), touch)
  }
  if (to.type === 'link') return withNodeAt(draft, path, linkNode(to.target, at, tags), touch)
  const old = nodeAt(present, path)
  const source = from === undefined ? undefined : nodeAt(present, from)
  const kept = old?.type === 'file' ? old : source?.type === 'file' ? source : undefined
  const file = fileNode(to.bytes, to.mode ?? kept?.stat.mode ?? FILE_MODE, at, tags)
  // The same bytes have the same hash.
  if (source?.type === 'file' && source.bytes === to.bytes) file.hash = hashOf(source)
  return withNodeAt(draft, path, file, touch)
}

/** A file's node with the sha256 of its bytes, once someone asked for it. */
interface HashedFile extends FileNode {
  hash?: string
}

function hashOf(node: HashedFile): string {
  node.hash ??= sha256Kept(node.bytes)
  return node.hash
}

function versionOf(node: TreeNode | undefined): Version {
  if (node === undefined) return null
  if (node.type === 'directory') return DIRECTORY_VERSION
  if (node.type === 'link') return { type: 'link', target: node.target }
  return { type: 'file', sha256: hashOf(node), size: node.stat.size, mode: node.stat.mode ?? FILE_MODE }
}

interface TagCounter {
  next(): string
  /** A counter for a copy: neither gives a tag that the other gives. */
  fork(): TagCounter
}

function tagCounter(prefix: string): TagCounter {
  let count = 0
  let forks = 0
  return {
    next: () => `${prefix}${++count}`,
    fork: () => tagCounter(`${prefix}${count}+${++forks}.`),
  }
}

function fileNode(bytes: Uint8Array, mode: number, at: number, tags: TagCounter): HashedFile {
  return {
    type: 'file',
    bytes,
    stat: { type: 'file', size: bytes.length, mode, modifiedAt: at, tag: tags.next() },
  }
}

function linkNode(target: string, at: number, tags: TagCounter): LinkNode {
  return { type: 'link', target, stat: { type: 'link', size: 0, mode: LINK_MODE, modifiedAt: at, tag: tags.next() } }
}

function directoryStat(at: number, tags: TagCounter): Stat {
  return { type: 'directory', size: 0, mode: DIRECTORY_MODE, modifiedAt: at, tag: tags.next() }
}

/** The refusal of a read of something that is not there or of another type. */
function wrongType(root: DirectoryNode, verb: string, path: Path, node: TreeNode | undefined): ToolError {
  const cannot = `Cannot ${verb} ${quote(display(path))}`
  if (node === undefined) {
    const inTheWay = ancestorsOf(path)
      .map((above) => nodeAt(root, above))
      .find((above) => above !== undefined)
    if (inTheWay === undefined || inTheWay.type === 'directory') {
      return new ToolError('NOT_FOUND', `${cannot}: it does not exist`, { path })
    }
    return new ToolError('NOT_A_DIRECTORY', `${cannot}: a part of the path is a ${inTheWay.type}`, { path })
  }
  if (verb === 'list') return new ToolError('NOT_A_DIRECTORY', `${cannot}: it is a ${node.type}`, { path })
  if (node.type === 'directory') return new ToolError('IS_DIRECTORY', `${cannot}: it is a directory`, { path })
  const code = verb === 'read' ? 'PATH_REJECTED' : 'INVALID_INPUT'
  return new ToolError(code, `${cannot}: it is a ${node.type}`, { path })
}

function loadTree(files: Readonly<Record<string, MemoryEntry>>, at: number, tags: TagCounter): DirectoryNode {
  const root: Draft = new Map()
  for (const [key, entry] of Object.entries(files)) {
    const path = pathOfKey(key)
    const directory = path === '' ? undefined : makeParents(root, path)
    const name = nameOf(path)
    if (directory === undefined || directory.has(name)) {
      if (isDirectoryEntry(entry) && (directory === undefined || directory.get(name) instanceof Map)) continue
      throw new TypeError(`memory(): ${quote(key)} is given twice, or is a directory of another file`)
    }
    directory.set(name, isDirectoryEntry(entry) ? new Map() : loadNode(path, entry, at, tags))
  }
  return freeze(root, at, tags)
}

type Draft = Map<string, Draft | FileNode | LinkNode>

function makeParents(root: Draft, path: LogicalPath): Draft {
  let directory = root
  const parent = parentOf(path)
  for (const name of parent === '' ? [] : parent.split('/')) {
    let next = directory.get(name)
    if (next === undefined) {
      next = new Map()
      directory.set(name, next)
    }
    if (!(next instanceof Map)) throw new TypeError(`memory(): ${quote(path)} lies below a file or a link`)
    directory = next
  }
  return directory
}

function freeze(draft: Draft, at: number, tags: TagCounter): DirectoryNode {
  const entries: [string, TreeNode][] = []
  for (const [name, node] of draft) entries.push([name, node instanceof Map ? freeze(node, at, tags) : node])
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return directoryNode(directoryStat(at, tags), entries)
}

function loadNode(
  path: LogicalPath,
  entry: Exclude<MemoryEntry, { directory: true }>,
  at: number,
  tags: TagCounter,
): FileNode | LinkNode {
  if (typeof entry === 'string') return fileNode(encode(path, entry), FILE_MODE, at, tags)
  if (entry instanceof Uint8Array) return fileNode(entry, FILE_MODE, at, tags)
  if (typeof entry !== 'object' || entry === null)
    throw new TypeError(`memory(): ${quote(path)} is neither text, bytes, a link nor a directory`)
  if ('link' in entry) {
    try {
      linkTarget(path, entry.link)
    } catch (error) {
      throw new TypeError(`memory(): ${(error as Error).message}`, { cause: error })
    }
    return linkNode(entry.link, at, tags)
  }
  const { mode = FILE_MODE } = entry
  if (!Number.isInteger(mode) || mode < 0 || mode > 0o7777)
    throw new TypeError(`memory(): the mode of ${quote(path)} is no permission bits`)
  if ('text' in entry) return fileNode(encode(path, entry.text), mode, at, tags)
  if (entry.bytes instanceof Uint8Array) return fileNode(entry.bytes, mode, at, tags)
  throw new TypeError(`memory(): ${quote(path)} is neither text, bytes, a link nor a directory`)
}

function isDirectoryEntry(entry: MemoryEntry): entry is { readonly directory: true } {
  return typeof entry === 'object' && entry !== null && 'directory' in entry
}

function pathOfKey(key: string): LogicalPath {
  try {
    return parsePath(key)
  } catch (error) {
    throw new TypeError(`memory(): ${(error as Error).message}`, { cause: error })
  }
}

const encoder = new TextEncoder()

function encode(path: LogicalPath, text: string): Uint8Array {
  // The encoder would silently replace what is not well-formed.
  if (/\p{Cs}/u.test(text)) throw new TypeError(`memory(): the text of ${quote(path)} is not well-formed Unicode`)
  return encoder.encode(text)
}
