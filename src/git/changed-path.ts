import { objectId } from '../files/hash/sha1.ts'
import type { Path } from '../paths/logical-path.ts'
import type { FileNode, LinkNode } from '../storage/backend.ts'

/** One side of a changed path, as git sees it. */
export interface Side {
  /** `0o100644 0o100755 0o120000`. */
  readonly mode: number
  /** The id of its blob; `''` where it is too large to be looked into. */
  readonly id: string
  /** The immutable node that holds it, if one does: what was made of it is known again without hashing. */
  readonly node?: FileNode | LinkNode
  /** The content; of a link, its target. `undefined` if it is no longer there, or too large. */
  bytes(): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** A path that differs from the base. `old` or `now` is null where it is not there; never both. */
export interface Changed {
  readonly path: Path
  readonly old: Side | null
  readonly now: Side | null
}

export const FILE = 0o100644
export const EXECUTABLE = 0o100755
export const LINK = 0o120000
export const SUBMODULE = 0o160000

/** The mode that git notes for permission bits; without bits, what the base has. */
export function gitMode(bits: number | undefined, base: number | undefined): number {
  if (bits === undefined) return base === EXECUTABLE ? EXECUTABLE : FILE
  return (bits & 0o100) === 0 ? FILE : EXECUTABLE
}

const ids = new WeakMap<FileNode | LinkNode, string>()

/** The blob id of a file or link in an immutable tree: hashed once. */
export function idOfNode(node: FileNode | LinkNode): string {
  let id = ids.get(node)
  if (id === undefined) {
    id = objectId('blob', bytesOfNode(node))
    ids.set(node, id)
  }
  return id
}

export function bytesOfNode(node: FileNode | LinkNode): Uint8Array {
  return node.type === 'link' ? new TextEncoder().encode(node.target) : node.bytes
}

export function sideOfNode(node: FileNode | LinkNode, base: number | undefined): Side {
  return {
    mode: node.type === 'link' ? LINK : gitMode(node.stat.mode, base),
    get id() {
      return idOfNode(node)
    },
    node,
    bytes: () => bytesOfNode(node),
  }
}
