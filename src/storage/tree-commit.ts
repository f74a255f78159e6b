import { cachedSha256, sha256Cached } from '../files/hash/sha256.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Backend, Change, DirectoryNode, FileNode, LinkNode, Receipt, Stat, TreeNode, Version } from './backend.ts'
import { canonicalSync, type LookupResult } from './canonical-path.ts'
import { applyOrder, checkChangeSet } from './change-set.ts'
import { rangeOf } from './read-range.ts'
import { directoryNode, nodeAt, nodeFinder, TreeEditor } from './tree.ts'
import { type ReadVerb, wrongType } from './wrong-type.ts'

/** Generates a tag for each new node. */
export interface Tags {
  next(): string
}

/** The reads of a backend with a tree in memory. */
export type TreeReads = Required<Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink' | 'scan'>>

/** Creates reads of the tree that `present` returns at each call. */
export function treeReads(present: () => DirectoryNode): TreeReads {
  let root: DirectoryNode | undefined
  let find: ReturnType<typeof nodeFinder> = () => undefined
  /** Finds a node of the present tree. A lookup near the previous one visits few nodes. */
  const nodeOf = (path: Path): TreeNode | undefined => {
    const current = present()
    if (current !== root) {
      root = current
      find = nodeFinder(current)
    }
    return find(path)
  }
  const look = (path: Path): LookupResult => {
    const node = nodeOf(path)
    return node?.type === 'link' ? { link: node.target } : node
  }
  const refusal = (verb: ReadVerb, path: Path) => wrongType(verb, path, (at) => nodeOf(at)?.type)
  return {
    async canonical(path, options) {
      const node = nodeOf(path as Path)
      if (node !== undefined && (node.type !== 'link' || options?.noFollow)) return path as Path
      return canonicalSync(look, path, options?.noFollow ?? false)
    },

    async stat(path) {
      return nodeOf(path)?.stat
    },

    async list(path) {
      const node = nodeOf(path)
      if (node?.type !== 'directory') throw refusal('list', path)
      return Array.from(node.entries(), ([name, { type }]) => ({ name, type }))
    },

    async read(path, range) {
      const node = nodeOf(path)
      if (node?.type !== 'file') throw refusal('read', path)
      if (range === undefined) return { bytes: node.bytes, stat: node.stat }
      const { start, end } = rangeOf(path, range, node.stat, () => hashOf(node))
      return { bytes: node.bytes.subarray(start, end), stat: node.stat }
    },

    async readLink(path) {
      const node = nodeOf(path)
      if (node?.type !== 'link') throw refusal('read link', path)
      return node.target
    },

    async scan(paths, visit) {
      const find = nodeFinder(present())
      for (const path of paths) {
        const node = find(path)
        if (node?.type === 'file' && !visit(path, node.bytes, node.stat)) return
      }
    },
  }
}

/** A tree with a checked change set applied, and the receipt. */
export interface Draft {
  readonly root: DirectoryNode
  readonly receipt: Receipt
}

/**
 * Checks a change set against a tree and returns the tree with the set applied. The given tree does not change.
 *
 * @throws ToolError what {@link checkChangeSet} throws
 */
export function draftOf(root: DirectoryNode, changes: readonly Change[], at: number, tags: Tags): Draft {
  const find = nodeFinder(root)
  const before = checkChangeSet(changes, {
    at: find,
    sha256: (node: TreeNode) => hashOf(node as HashedFile),
    *names(path: Path): Iterable<string> {
      for (const [name] of (nodeAt(root, path) as DirectoryNode).entries()) yield name
    },
  })
  const draft = applyAll(root, changes, at, tags)
  const findAfter = nodeFinder(draft)
  return {
    root: draft,
    receipt: {
      applied: changes.map(({ path, to }, i) => ({
        path,
        before: versionOfNode(before[i]),
        after: to === null ? null : versionOfNode(findAfter(path)),
      })),
    },
  }
}

/** Returns the tree with a checked set applied. */
export function applyAll(root: DirectoryNode, changes: readonly Change[], at: number, tags: Tags): DirectoryNode {
  const touch = (parent: DirectoryNode): Stat => ({ ...parent.stat, modifiedAt: at, tag: tags.next() })
  const draft = new TreeEditor(root)
  const present = nodeFinder(root)
  for (const change of applyOrder(changes)) apply(draft, present, change, at, tags, touch)
  return draft.finish()
}

/** Permission bits of a new file. */
export const FILE_MODE = 0o644
export const DIRECTORY_MODE = 0o755
export const LINK_MODE = 0o777

const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

/** Applies one change. `present` finds the nodes before the set, for bits that are kept. */
function apply(
  draft: TreeEditor,
  present: (path: Path) => TreeNode | undefined,
  { path, to, from }: Change,
  at: number,
  tags: Tags,
  touch: (parent: DirectoryNode) => Stat,
): void {
  if (to === null) {
    draft.set(path, undefined, touch)
    return
  }
  if (to.type === 'directory') {
    if (draft.get(path)?.type !== 'directory') draft.set(path, directoryNode(directoryStat(at, tags)), touch)
    return
  }
  if (to.type === 'link') {
    draft.set(path, linkNode(to.target, at, tags), touch)
    return
  }
  const old = present(path)
  const source = from === undefined ? undefined : present(from)
  const previous = old?.type === 'file' ? old : source?.type === 'file' ? source : undefined
  const file = fileNode(to.bytes, to.mode ?? previous?.stat.mode ?? FILE_MODE, at, tags)
  draft.set(path, file, touch)
}

/** A file node that caches the sha256 of its bytes. */
export interface HashedFile extends FileNode {
  hash?: string
}

export function hashOf(node: HashedFile): string {
  node.hash ??= sha256Cached(node.bytes)
  return node.hash
}

/** Returns the hash if it is cached. */
export function cachedHashOf(node: HashedFile): string | undefined {
  return node.hash ?? cachedSha256(node.bytes)
}

/** Returns the permission bits of a stat or version of a file. */
export function modeOf({ mode = FILE_MODE }: { readonly mode?: number }): number {
  return mode
}

/** Returns the version of a node. A file is hashed on first access, so an unread receipt costs nothing. */
export function versionOfNode(node: TreeNode | undefined): Version {
  if (node === undefined) return null
  if (node.type === 'directory') return DIRECTORY_VERSION
  if (node.type === 'link') return { type: 'link', target: node.target }
  const cached = cachedHashOf(node)
  const { size } = node.stat
  const mode = modeOf(node.stat)
  return cached === undefined ? lazyVersion(node, size, mode) : { type: 'file', sha256: cached, size, mode }
}

function lazyVersion(file: HashedFile, size: number, mode: number): Version {
  let pending: HashedFile | undefined = file
  let hash: string | undefined
  return {
    type: 'file',
    get sha256() {
      if (pending !== undefined) hash = hashOf(pending)
      // Releases the node, so that the version does not keep the content alive.
      pending = undefined
      return hash as string
    },
    size,
    mode,
  }
}

export function fileNode(bytes: Uint8Array, mode: number, at: number, tags: Tags): HashedFile {
  return {
    type: 'file',
    bytes,
    stat: { type: 'file', size: bytes.length, mode, modifiedAt: at, tag: tags.next() },
  }
}

export function linkNode(target: string, at: number, tags: Tags): LinkNode {
  return { type: 'link', target, stat: { type: 'link', size: 0, mode: LINK_MODE, modifiedAt: at, tag: tags.next() } }
}

export function directoryStat(at: number, tags: Tags): Stat {
  return { type: 'directory', size: 0, mode: DIRECTORY_MODE, modifiedAt: at, tag: tags.next() }
}
