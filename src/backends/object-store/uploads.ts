import { ToolError } from '../../errors.ts'
import { type Batch, type Location, parseLocation } from './objects.ts'
import type { Space } from './space.ts'

/** Maximum duration of a commit. The sweep deletes no object that is younger than twice this. */
export const MAX_COMMIT_MS = 60 * 60 * 1000

/** The objects that a commit writes before its root: contents once, nodes again for each try. */
export interface Uploads {
  /** The locations of the written contents, by path: a change set has each path once. */
  readonly locations: ReadonlyMap<string, Location>
  /** Writes the objects of a try, and deletes those that the previous commit dropped. */
  send(objects: TryObjects, garbage: readonly string[]): Promise<void>
  /** @throws ToolError when the sweep may delete the first objects soon */
  requireFresh(): void
  /** Deletes the contents that are not at these locations. */
  discardUnused(locations: Iterable<Location>): Promise<void>
  /** Deletes the nodes of a try that did not become the tree. */
  discardNodes(): Promise<void>
  discardAll(): Promise<void>
}

interface TryObjects {
  readonly contents: Batch
  readonly nodes: Batch
  /** The locations of all contents of this try, by path. */
  readonly added?: ReadonlyMap<string, Location>
}

export function openUploads({ store, keys, contents, nodeObjects }: Space): Uploads {
  const started = Date.now()
  const locations = new Map<string, Location>()
  const contentNames = new Set<string>()
  const nodeNames = new Set<string>()

  /** Deletes objects that no root names. Those that remain are left to the sweep. */
  async function discard(prefix: string, names: Set<string>, used: ReadonlySet<string> = new Set()): Promise<void> {
    const unused = [...names].filter((name) => !used.has(baseName(name)))
    for (const name of unused) names.delete(name)
    if (unused.length > 0) await store.delete(unused.map((name) => prefix + name)).catch(() => {})
  }

  return {
    locations,

    async send(objects, garbage) {
      // Recorded first: some objects may be written even if the whole fails.
      for (const name of objects.contents.names()) contentNames.add(name)
      for (const name of objects.nodes.names()) nodeNames.add(name)
      const results = await Promise.allSettled([
        contents.write(objects.contents),
        nodeObjects.write(objects.nodes),
        garbage.length > 0 && store.delete(garbage.map((key) => keys.below + key)).catch(() => {}),
      ])
      for (const result of results) if (result.status === 'rejected') throw result.reason
      for (const [path, location] of objects.added ?? []) locations.set(path, location)
    },

    requireFresh() {
      if (Date.now() - started <= MAX_COMMIT_MS) return
      throw new ToolError('BACKEND_ERROR', 'Cannot commit: the object store took more than an hour')
    },

    discardUnused(used) {
      const names = new Set(Array.from(used, (location) => parseLocation(location).name))
      return discard(keys.contents, contentNames, names)
    },

    discardNodes: () => discard(keys.nodes, nodeNames),

    async discardAll() {
      await Promise.all([discard(keys.contents, contentNames), discard(keys.nodes, nodeNames)])
    },
  }
}

/** The name of an object without the number of its part. */
function baseName(name: string): string {
  return name.split('.', 1)[0] as string
}
