import type { DirectoryNode, FileNode, LinkNode } from '../storage/backend.ts'
import { bytesOfNode, gitMode, idOfNode, LINK, type Side, SUBMODULE } from './changed-path.ts'
import { TooLargeError } from './corrupt-error.ts'
import type { Objects } from './objects.ts'
import type { TreeFile } from './trees.ts'

/** A directory of the base that a workspace is compared with: of a commit, or of an earlier tree in memory. */
export interface BaseDirectory {
  readonly files: ReadonlyMap<string, BaseFile>
  readonly directories: ReadonlyMap<string, BaseDirectory>
  /** The node of the tree in memory, if the base is one. The same node is unchanged. */
  readonly node?: DirectoryNode
}

export interface BaseFile extends TreeFile {
  readonly node?: FileNode | LinkNode
}

/** Returns a file of the base as one side of a change. */
export function sideOfBase(objects: Objects, file: BaseFile): Side {
  const { mode, node } = file
  if (node !== undefined)
    return {
      mode,
      get id() {
        return file.id
      },
      node,
      bytes: () => bytesOfNode(node),
    }
  const { id } = file
  // Git's text for a submodule that became a file: the commit is not an object of this repository.
  if (mode === SUBMODULE) return { mode, id, bytes: () => new TextEncoder().encode(`Subproject commit ${id}\n`) }
  return { mode, id, bytes: () => blobBytes(objects, id) }
}

/** Returns `undefined` for a blob that is too large, which then counts as binary. */
async function blobBytes(objects: Objects, id: string): Promise<Uint8Array | undefined> {
  try {
    return await objects.need(id, 'blob')
  } catch (error) {
    if (error instanceof TooLargeError) return undefined
    throw error
  }
}

const bases = new WeakMap<DirectoryNode, BaseDirectory>()

/** Returns a tree in memory as a base. Directories are read and files hashed lazily. */
export function baseOfNode(node: DirectoryNode): BaseDirectory {
  let base = bases.get(node)
  if (base === undefined) {
    let entries: { files: Map<string, BaseFile>; directories: Map<string, BaseDirectory> } | undefined
    const read = () => {
      entries ??= entriesOf(node)
      return entries
    }
    base = {
      node,
      get files() {
        return read().files
      },
      get directories() {
        return read().directories
      },
    }
    bases.set(node, base)
  }
  return base
}

function entriesOf(node: DirectoryNode) {
  const files = new Map<string, BaseFile>()
  const directories = new Map<string, BaseDirectory>()
  for (const [name, child] of node.entries()) {
    if (child.type === 'directory') directories.set(name, baseOfNode(child))
    else {
      files.set(name, {
        mode: child.type === 'link' ? LINK : gitMode(child.stat.mode, undefined),
        get id() {
          return idOfNode(child)
        },
        node: child,
      })
    }
  }
  return { files, directories }
}
