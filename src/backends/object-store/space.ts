import { ToolError } from '../../errors.ts'
import { type Keys, keysBelow } from './keys.ts'
import { type Nodes, openNodes } from './nodes.ts'
import { MissingObject, type Objects, openObjects } from './objects.ts'
import { withRetries } from './retry.ts'
import { type LoadedRoot, openRoot, type RootObject } from './root.ts'
import type { ObjectStore } from './store.ts'

/** The objects of one workspace. */
export interface Space {
  readonly store: ObjectStore
  readonly keys: Keys
  readonly root: RootObject
  readonly nodes: Nodes
  /** The objects that contain the nodes. */
  readonly nodeObjects: Objects
  /** The objects that contain the contents of files. */
  readonly contents: Objects
}

/** The bytes that stay in memory ahead of a walk or a search. */
const NODE_CACHE_BYTES = 4 * 1024 * 1024
const CONTENT_CACHE_BYTES = 24 * 1024 * 1024

/** @throws TypeError for a prefix that is not a plain path */
export function openSpace(target: ObjectStore, prefix: string | undefined): Space {
  const store = withRetries(target)
  const keys = keysBelow(prefix)
  const nodeObjects = openObjects(store, keys.nodes, NODE_CACHE_BYTES)
  return {
    store,
    keys,
    root: openRoot(store, keys.manifest),
    nodes: openNodes(nodeObjects),
    nodeObjects,
    contents: openObjects(store, keys.contents, CONTENT_CACHE_BYTES),
  }
}

/** The tree that reads see. */
export interface TreeSource {
  load(): Promise<LoadedRoot>
  /** Loads the tree after a commit has deleted an object of it. */
  reload(): Promise<LoadedRoot>
}

/** How long the reads of a call use one answer of the store. */
const PIN_MS = 2000

/** Returns a source that asks the store with each load; while it is pinned, once every two seconds. */
export function openSource({ cached, load }: RootObject): TreeSource & { pin(): () => void } {
  let pins = 0
  let generation = 0
  let pinnedUntil = 0
  return {
    async load() {
      const present = cached()
      if (present !== undefined && Date.now() < pinnedUntil) return present
      const asked = generation
      const until = Date.now() + PIN_MS
      const tree = await load()
      // A call that began meanwhile needs an answer to its own question.
      if (pins > 0 && asked === generation) pinnedUntil = until
      return tree
    },
    reload: load,
    pin() {
      let isPinned = true
      pins += 1
      generation += 1
      pinnedUntil = 0
      return () => {
        if (isPinned) pins -= 1
        isPinned = false
        if (pins === 0) pinnedUntil = 0
      }
    },
  }
}

/** Returns a source that keeps its first tree while the objects of it exist. */
export function pinTree({ load }: Pick<TreeSource, 'load'>): TreeSource {
  let tree: Promise<LoadedRoot> | undefined
  const reload = () => {
    tree = load()
    return tree
  }
  return { load: () => tree ?? reload(), reload }
}

/** Runs an action on the tree, and again on a newer one if a commit has deleted an object that it reads. */
export async function onTree<T>(
  source: TreeSource,
  action: (tree: LoadedRoot) => Promise<T>,
  missingError: () => ToolError = missingNode,
): Promise<T> {
  let tree = await source.load()
  let missing: string | undefined
  for (;;) {
    try {
      return await action(tree)
    } catch (error) {
      if (!(error instanceof MissingObject)) throw error
      const current = await source.reload()
      if (current === tree || error.location === missing) throw missingError()
      tree = current
      missing = error.location
    }
  }
}

/** Returns the error for a tree of which an object is missing. */
export function missingNode(): ToolError {
  return new ToolError('BACKEND_ERROR', 'Cannot read the tree: an object of it is missing in the store')
}
