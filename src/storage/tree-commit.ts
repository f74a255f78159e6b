import { cachedSha256, sha256Cached } from '../files/hash/sha256.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Change, DirectoryNode, EntryState, FileNode, Receipt, Stat, TreeNode, Version } from './backend.ts'
import { applyOrder, checkChangeSet } from './change-set.ts'
import { directoryNode, nodeAt, nodeFinder, TreeEditor } from './tree.ts'
import { directoryStat, FILE_MODE, fileNode, type HashedFile, hashOf, linkNode, type Tags } from './tree-nodes.ts'

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
export function draftOf(
  root: DirectoryNode,
  changes: readonly Change[],
  at: number,
  tags: Tags,
  create?: CreateFile,
): Draft {
  const find = nodeFinder(root)
  const before = checkChangeSet(changes, {
    at: find,
    sha256: (node: TreeNode) => hashOf(node as HashedFile),
    *names(path: Path): Iterable<string> {
      for (const [name] of (nodeAt(root, path) as DirectoryNode).entries()) yield name
    },
  })
  const draft = applyAll(root, changes, at, tags, create)
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

/** Creates the node of a file. */
export type CreateFile = (to: FileState, mode: number, at: number, tags: Tags) => FileNode

export type FileState = Extract<EntryState, { readonly type: 'file' }>

/** Returns the tree with a checked set applied. */
export function applyAll(
  root: DirectoryNode,
  changes: readonly Change[],
  at: number,
  tags: Tags,
  create: CreateFile = ({ bytes }, mode) => fileNode(bytes, mode, at, tags),
): DirectoryNode {
  const touch = (): Stat => directoryStat(at, tags)
  const draft = new TreeEditor(root)
  const present = nodeFinder(root)
  for (const change of applyOrder(changes)) apply(draft, present, change, at, tags, touch, create)
  return draft.finish()
}

const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

/** Applies one change. `present` finds the nodes before the set, for bits that are kept. */
function apply(
  draft: TreeEditor,
  present: (path: Path) => TreeNode | undefined,
  { path, to, from }: Change,
  at: number,
  tags: Tags,
  touch: () => Stat,
  create: CreateFile,
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
  draft.set(path, create(to, to.mode ?? previous?.stat.mode ?? FILE_MODE, at, tags), touch)
}

/** Returns the hash if it is cached. */
export function cachedHashOf(node: HashedFile): string | undefined {
  return node.hash ?? (node.bytes && cachedSha256(node.bytes))
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
  // A node may lose its content; a backend loads it before the commit.
  let { bytes } = file
  let pending: HashedFile | undefined = file
  let hash: string | undefined
  return {
    type: 'file',
    get sha256() {
      if (pending !== undefined) hash = pending.hash ??= sha256Cached(bytes as Uint8Array)
      // Releases the node, so that the version does not keep the content alive.
      pending = bytes = undefined
      return hash as string
    },
    size,
    mode,
  }
}
