import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { Backend, DirectoryNode, TreeNode } from '../../storage/backend.ts'
import { directoryNode } from '../../storage/tree.ts'
import type { Layers } from './layers.ts'

/**
 * Creates the tree of an overlay whose layers both have one. Only directories that contain changes get new nodes, which
 * stay the same until something below them changes.
 */
export function layeredTree({ lower, upper, touched, fromUpper, mergedStat }: Layers): () => DirectoryNode {
  interface MergedNode {
    readonly below: TreeNode | undefined
    readonly above: TreeNode | undefined
    readonly stamp: number | undefined
    readonly node: TreeNode
  }
  const merged = new Map<Path, MergedNode>()
  const raised = new WeakMap<TreeNode, TreeNode>()

  /** Returns a node of the upper tree with the tags of the overlay. */
  function raise(node: TreeNode): TreeNode {
    const cached = raised.get(node)
    if (cached !== undefined) return cached
    const stat = fromUpper(node.stat)
    const result =
      node.type === 'directory'
        ? directoryNode(
            stat,
            Array.from(node.entries(), ([name, child]) => [name, raise(child)] as const),
          )
        : node.type === 'file'
          ? { type: 'file' as const, bytes: node.bytes, stat }
          : { ...node, stat }
    raised.set(node, result)
    return result
  }

  function merge(path: Path, below: TreeNode | undefined, above: TreeNode | undefined): TreeNode {
    const stamp = touched.stamp(path)
    const cached = merged.get(path)
    if (cached !== undefined && cached.below === below && cached.above === above && cached.stamp === stamp)
      return cached.node
    const entries = new Map<string, TreeNode>()
    if (below?.type === 'directory') {
      for (const [name, child] of below.entries()) {
        const at = childOf(path, name)
        if (touched.has(at)) continue
        entries.set(name, touched.isAbove(at) ? merge(at, child, childNode(above, name)) : child)
      }
    }
    if (above?.type === 'directory') {
      for (const [name, child] of above.entries()) {
        const at = childOf(path, name)
        if (touched.has(at)) entries.set(name, raise(child))
        else if (touched.isAbove(at) && entries.get(name)?.type !== 'directory') {
          entries.set(name, merge(at, undefined, child))
        }
      }
    }
    const stat = mergedStat(path, below?.stat, above?.stat) as DirectoryNode['stat']
    const node = directoryNode(
      stat,
      [...entries].sort(([a], [b]) => (a < b ? -1 : 1)),
    )
    merged.set(path, { below, above, stamp, node })
    return node
  }

  return () => {
    const below = treeOf(lower)
    if (touched.size() === 0) return below
    return merge(ROOT, below, treeOf(upper)) as DirectoryNode
  }
}

function childNode(directory: TreeNode | undefined, name: string): TreeNode | undefined {
  return directory?.type === 'directory' ? directory.get(name) : undefined
}

function treeOf(backend: Backend): DirectoryNode {
  return (backend.tree as () => DirectoryNode)()
}
