import type { DirectoryNode, FileNode, LinkNode } from '../storage/backend.ts'
import { bytesOfNode, gitMode, idOfNode, LINK, type Side, SUBMODULE } from './changed-path.ts'
import type { Objects } from './objects.ts'
import type { TreeDirectory, TreeFile } from './trees.ts'

/** A directory of what a workspace is compared with: a commit's, or that of a tree in memory as it was. */
export interface BaseDirectory {
  readonly files: ReadonlyMap<string, BaseFile>
  readonly directories: ReadonlyMap<string, BaseDirectory>
  /** The tree in memory that it stands for: the same node has not changed. */
  readonly node?: DirectoryNode
}

export interface BaseFile extends TreeFile {
  readonly node?: FileNode | LinkNode
}

/** How a base's file is read. */
export function sideOfBase(objects: Objects, file: BaseFile): Side {
  const { mode, id, node } = file
  if (node !== undefined)
    return {
      mode,
      get id() {
        return file.id
      },
      node,
      bytes: () => bytesOfNode(node),
    }
  // What git shows of a submodule that gave way to a file: the commit is no object of this repository.
  if (mode === SUBMODULE) return { mode, id, bytes: () => new TextEncoder().encode(`Subproject commit ${id}\n`) }
  return { mode, id, bytes: async () => objects.need(id, 'blob') }
}

const bases = new WeakMap<DirectoryNode, BaseDirectory>()

/** A tree in memory as a base. Nothing is hashed and no directory looked into before it is asked for. */
export function baseOfNode(node: DirectoryNode): BaseDirectory {
  let base = bases.get(node)
  if (base === undefined) {
    let filled: { files: Map<string, BaseFile>; directories: Map<string, BaseDirectory> } | undefined
    const fill = () => {
      filled ??= entriesOf(node)
      return filled
    }
    base = {
      node,
      get files() {
        return fill().files
      },
      get directories() {
        return fill().directories
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

/** A commit's tree as a base. */
export function baseOfTree(tree: TreeDirectory): BaseDirectory {
  return tree
}
