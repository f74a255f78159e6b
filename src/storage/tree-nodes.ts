import { sha256Cached } from '../files/hash/sha256.ts'
import { utf8Length } from '../files/text/utf8-length.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Backend, DirectoryNode, FileNode, LinkNode, ReadsNow, Stat, TreeNode } from './backend.ts'
import { canonicalSync, type LookupResult } from './canonical-path.ts'
import { readsOver } from './lookups.ts'
import { rangeOf } from './read-range.ts'
import { nodeFinder } from './tree.ts'
import { type ReadVerb, wrongType } from './wrong-type.ts'

/** Generates a tag for each new node. */
export interface Tags {
  next(): string
}

/** The reads of a backend with a tree in memory. */
export type TreeReads = Required<
  Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink' | 'scan' | 'readsNow'>
>

/** Creates reads of the tree that `present` returns at each call. `read` and `scan` need its contents in memory. */
export function treeReads(present: () => DirectoryNode): TreeReads {
  const now = treeReadsNow(present)
  return {
    ...readsOver(now),
    readsNow: () => now,

    async scan(paths, visit) {
      const find = nodeFinder(present())
      for (const path of paths) {
        const node = find(path)
        if (node?.type === 'file' && !visit(path, node.bytes as Uint8Array, node.stat)) return
      }
    },
  }
}

/** Creates reads, which return at once, of the tree that `present` returns at each call. */
export function treeReadsNow(present: () => DirectoryNode): ReadsNow {
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
    canonical(path, options) {
      const node = nodeOf(path as Path)
      if (node !== undefined && (node.type !== 'link' || options?.noFollow)) return path as Path
      return canonicalSync(look, path, options?.noFollow ?? false)
    },

    stat: (path) => nodeOf(path)?.stat,

    list(path) {
      const node = nodeOf(path)
      if (node?.type !== 'directory') throw refusal('list', path)
      return Array.from(node.entries(), ([name, { type }]) => ({ name, type }))
    },

    read(path, range) {
      const node = nodeOf(path)
      if (node?.type !== 'file') throw refusal('read', path)
      if (range === undefined) return { bytes: node.bytes as Uint8Array, stat: node.stat }
      const { start, end } = rangeOf(path, range, node.stat, () => hashOf(node))
      return { bytes: (node.bytes as Uint8Array).subarray(start, end), stat: node.stat }
    },

    readLink(path) {
      const node = nodeOf(path)
      if (node?.type !== 'link') throw refusal('read link', path)
      return node.target
    },
  }
}

/** Permission bits of a new file. */
export const FILE_MODE = 0o644
export const DIRECTORY_MODE = 0o755
export const LINK_MODE = 0o777

/** A file node that caches the sha256 of its bytes. */
export interface HashedFile extends FileNode {
  hash?: string | undefined
}

/** The content must be in memory, unless the hash is known. */
export function hashOf(node: HashedFile): string {
  node.hash ??= sha256Cached(node.bytes as Uint8Array)
  return node.hash
}

export function fileNode(bytes: Uint8Array, mode: number, at: number, tags: Tags): HashedFile {
  return {
    type: 'file',
    bytes,
    stat: { type: 'file', size: bytes.length, mode, modifiedAt: at, tag: tags.next() },
  }
}

/**
 * Creates a file from a text, whose bytes are encoded when they are first read.
 *
 * @param text well-formed Unicode
 */
export function textFileNode(text: string, mode: number, at: number, tags: Tags): HashedFile {
  return new TextFile(text, { type: 'file', size: utf8Length(text), mode, modifiedAt: at, tag: tags.next() })
}

class TextFile implements HashedFile {
  readonly type = 'file'
  readonly stat: Stat
  declare hash?: string
  #content: string | Uint8Array

  constructor(text: string, stat: Stat) {
    this.stat = stat
    this.#content = text
  }

  get bytes(): Uint8Array {
    if (typeof this.#content === 'string') this.#content = encoder.encode(this.#content)
    return this.#content
  }
}

const encoder = new TextEncoder()

export function linkNode(target: string, at: number, tags: Tags): LinkNode {
  return { type: 'link', target, stat: { type: 'link', size: 0, mode: LINK_MODE, modifiedAt: at, tag: tags.next() } }
}

export function directoryStat(at: number, tags: Tags): Stat {
  return { type: 'directory', size: 0, mode: DIRECTORY_MODE, modifiedAt: at, tag: tags.next() }
}
