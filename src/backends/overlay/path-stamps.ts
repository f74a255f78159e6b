import type { Path } from '../../paths/logical-path.ts'

interface StampNode {
  /** The number of the latest change of a descendant; 0 without changes. */
  stamp: number
  isChanged: boolean
  children: Map<string, StampNode> | undefined
}

/** Marks changed paths and the directories above them. Every operation takes time linear in the length of its path. */
export class PathStamps {
  #root = createNode()
  #count = 0

  /** Marks a path as changed, and gives a new stamp to the directories above it. */
  change(path: Path): void {
    this.#nodeFor(path).isChanged = true
  }

  /** Gives a new stamp to the directories above a path. */
  touch(path: Path): void {
    this.#nodeFor(path)
  }

  /** Whether a path or a directory above it is marked as changed. */
  covers(path: Path): boolean {
    let node: StampNode | undefined = this.#root
    for (let start = 0; node !== undefined && !node.isChanged; ) {
      if (start > path.length || path === '') return false
      const end = endOfName(path, start)
      node = node.children?.get(path.slice(start, end))
      start = end + 1
    }
    return node !== undefined
  }

  /** Returns the stamp of a directory, or `undefined` when nothing below it was stamped. */
  of(path: Path): number | undefined {
    let node: StampNode | undefined = this.#root
    for (let start = 0; node !== undefined && path !== '' && start <= path.length; ) {
      const end = endOfName(path, start)
      node = node.children?.get(path.slice(start, end))
      start = end + 1
    }
    return node?.stamp || undefined
  }

  clear(): void {
    this.#root = createNode()
  }

  /** Returns the node of a path, and gives a new stamp to those above it. */
  #nodeFor(path: Path): StampNode {
    this.#count += 1
    let node = this.#root
    for (let start = 0; path !== '' && start <= path.length; ) {
      node.stamp = this.#count
      const end = endOfName(path, start)
      const name = path.slice(start, end)
      node.children ??= new Map()
      let child = node.children.get(name)
      if (child === undefined) {
        child = createNode()
        node.children.set(name, child)
      }
      node = child
      start = end + 1
    }
    return node
  }
}

function createNode(): StampNode {
  return { stamp: 0, isChanged: false, children: undefined }
}

function endOfName(path: string, start: number): number {
  const slash = path.indexOf('/', start)
  return slash === -1 ? path.length : slash
}
