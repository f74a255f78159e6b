import { objectId } from '../files/hash/sha1.ts'
import { LINK_MODE } from '../patch/diff.ts'
import type { Path } from '../paths/logical-path.ts'
import type { FileNode, LinkNode } from '../storage/backend.ts'
import { mapConcurrent } from '../util/map-concurrent.ts'

/** One side of a changed path, in git's terms. */
export interface Side {
  /** `0o100644`, `0o100755`, `0o120000` or `0o160000`. */
  readonly mode: number
  /** The id of its blob; `''` if the file is too large to read. */
  readonly id: string
  /** The immutable node with its content, if there is one: it identifies the content without hashing. */
  readonly node?: FileNode | LinkNode
  /** Returns the content; of a link, its target. `undefined` if it no longer exists or is too large. */
  bytes(): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** A path that differs from the base. `old` or `now` is null if the file does not exist on that side; never both. */
export interface Changed {
  readonly path: Path
  readonly old: Side | null
  readonly now: Side | null
}

export const FILE = 0o100644
export const EXECUTABLE = 0o100755
export const LINK = LINK_MODE
export const SUBMODULE = 0o160000

/** Returns git's mode for permission bits; without bits, the mode of the base. */
export function gitMode(bits: number | undefined, base: number | undefined): number {
  if (bits === undefined) return base === EXECUTABLE ? EXECUTABLE : FILE
  return (bits & 0o100) === 0 ? FILE : EXECUTABLE
}

const ids = new WeakMap<FileNode | LinkNode, string>()

/** Returns the blob id of a file or link in an immutable tree, whose content is in memory or was. Hashed once. */
export function idOfNode(node: FileNode | LinkNode): string {
  let id = ids.get(node)
  if (id === undefined) {
    const bytes = node.type === 'link' ? encoder.encode(node.target) : node.bytes
    if (bytes === undefined) throw new Error('Content is not in memory')
    id = objectId('blob', bytes)
    ids.set(node, id)
  }
  return id
}

/** Whether {@link idOfNode} needs {@link loadIds} first. */
export function needsContent(node: FileNode | LinkNode | undefined): node is FileNode {
  return node?.type === 'file' && node.bytes === undefined && !ids.has(node)
}

/** Whether a later {@link idOfNode} may need {@link loadIds}, since the content may leave memory. */
export function mayNeedContent(node: FileNode | LinkNode | undefined): node is FileNode {
  return node?.type === 'file' && node.load !== undefined && !ids.has(node)
}

/** Computes ids of files whose content is not always in memory. That of a file which no longer exists is `''`. */
export async function loadIds(nodes: readonly FileNode[]): Promise<void> {
  await mapConcurrent(nodes, async (node) => {
    const bytes = await node.load?.()
    ids.set(node, bytes === undefined ? '' : objectId('blob', bytes))
  })
}

const encoder = new TextEncoder()

export function bytesOfNode(node: FileNode | LinkNode): ReturnType<Side['bytes']> {
  return node.type === 'link' ? encoder.encode(node.target) : (node.bytes ?? node.load?.())
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
