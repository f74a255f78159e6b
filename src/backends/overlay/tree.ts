import { childOf, type Path, ROOT } from '../../paths/logical-path.ts'
import type { Backend, DirectoryNode, TreeNode } from '../../storage/backend.ts'
import { directoryNode } from '../../storage/tree.ts'
import type { Layers } from './layers.ts'

/** A directory to merge: its nodes in both layers. */
interface Part {
  readonly name: string
  readonly path: Path
  readonly below: TreeNode | undefined
  readonly above: TreeNode | undefined
}

/** A directory during its merge. */
interface Frame {
  readonly part: Part
  readonly entries: Map<string, TreeNode>
  readonly waiting: Part[]
  /** The directory that contains it. */
  readonly outer: Frame | undefined
}

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
  const raise = raiser(fromUpper)
  function mergedBefore({ path, below, above }: Part): TreeNode | undefined {
    const cached = merged.get(path)
    const isSame = cached?.below === below && cached?.above === above && cached?.stamp === touched.stamp(path)
    return isSame ? cached?.node : undefined
  }

  /** Merges the entries of a directory. Subdirectories that must be merged as well wait in the frame. */
  function open(part: Part, outer: Frame | undefined): Frame {
    const { path, below, above } = part
    const entries = new Map<string, TreeNode>()
    const waiting: Part[] = []
    const add = (next: Part) => {
      const node = mergedBefore(next)
      if (node === undefined) waiting.push(next)
      else entries.set(next.name, node)
    }
    if (below?.type === 'directory') {
      for (const [name, child] of below.entries()) {
        const at = childOf(path, name)
        if (touched.has(at)) continue
        if (touched.isAbove(at)) add({ name, path: at, below: child, above: childNode(above, name) })
        else entries.set(name, child)
      }
    }
    if (above?.type === 'directory') {
      for (const [name, child] of above.entries()) {
        const at = childOf(path, name)
        if (touched.has(at)) entries.set(name, raise(child))
        else if (touched.isAbove(at) && childNode(below, name) === undefined) {
          add({ name, path: at, below: undefined, above: child })
        }
      }
    }
    return { part, entries, waiting, outer }
  }

  function merge(root: Part): TreeNode {
    let frame = open(root, undefined)
    for (;;) {
      const next = frame.waiting.pop()
      if (next !== undefined) {
        frame = open(next, frame)
        continue
      }
      const { part, entries, outer } = frame
      const { name, path, below, above } = part
      const stat = mergedStat(path, below?.stat, above?.stat) as DirectoryNode['stat']
      const node = directoryNode(
        stat,
        [...entries].sort(([a], [b]) => (a < b ? -1 : 1)),
      )
      merged.set(path, { below, above, stamp: touched.stamp(path), node })
      if (outer === undefined) return node
      outer.entries.set(name, node)
      frame = outer
    }
  }

  return () => {
    const below = treeOf(lower)
    if (touched.size() === 0) return below
    const root = { name: '', path: ROOT, below, above: treeOf(upper) }
    return (mergedBefore(root) ?? merge(root)) as DirectoryNode
  }
}

/** Returns a function for nodes of the upper tree: it returns them with the tags of the overlay, always the same node for one. */
function raiser(fromUpper: Layers['fromUpper']): (node: TreeNode) => TreeNode {
  const raised = new WeakMap<TreeNode, TreeNode>()

  /** Raises a node whose entries are raised. */
  function raiseOne(node: TreeNode): TreeNode {
    const stat = fromUpper(node.stat)
    if (node.type === 'file') {
      if (node.bytes !== undefined) return { type: 'file', bytes: node.bytes, stat }
      return { type: 'file', bytes: undefined, stat, load: async () => node.load?.() }
    }
    if (node.type !== 'directory') return { ...node, stat }
    return directoryNode(
      stat,
      Array.from(node.entries(), ([name, child]) => [name, raised.get(child) as TreeNode] as const),
    )
  }

  return (root) => {
    const waiting = raised.has(root) ? [] : [root]
    for (let node = waiting.at(-1); node !== undefined; node = waiting.at(-1)) {
      const count = waiting.length
      if (node.type === 'directory') {
        for (const [, child] of node.entries()) if (!raised.has(child)) waiting.push(child)
      }
      if (waiting.length > count) continue
      waiting.pop()
      raised.set(node, raiseOne(node))
    }
    return raised.get(root) as TreeNode
  }
}

function childNode(directory: TreeNode | undefined, name: string): TreeNode | undefined {
  return directory?.type === 'directory' ? directory.get(name) : undefined
}

function treeOf(backend: Backend): DirectoryNode {
  return (backend.tree as () => DirectoryNode)()
}
