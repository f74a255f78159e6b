import { checkOptions, isFunction, isPositive, isText } from '../../util/check-options.ts'
import { isLeaf, type Node } from './nodes.ts'
import { objectNames } from './objects.ts'
import { onTree, openSpace, type Space } from './space.ts'
import type { ObjectStore } from './store.ts'
import { MAX_COMMIT_MS } from './uploads.ts'

/** Options of {@link sweep}. */
export interface SweepOptions {
  /** The prefix of the workspace, as given to `objectStore`. */
  readonly prefix?: string
  /** Minimum age of deleted objects: a running commit may still use younger ones. Default: a day; at least two hours. */
  readonly olderThanMs?: number
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number
}

/**
 * Deletes the unused objects of a workspace, which interrupted commits leave behind. Safe beside readers and writers. Run it
 * periodically, for example by a cron trigger.
 *
 * @returns the numbers of kept and deleted objects
 * @throws TypeError for an age below two hours, at which a slow commit could lose its contents
 */
export async function sweep(
  store: ObjectStore,
  options?: SweepOptions,
): Promise<{ readonly kept: number; readonly deleted: number }> {
  const table = { prefix: isText, olderThanMs: isPositive, clock: isFunction }
  const { prefix, olderThanMs = DAY_MS, clock = Date.now } = checkOptions<SweepOptions>('sweep()', options, table)
  if (!(olderThanMs >= 2 * MAX_COMMIT_MS)) throw new TypeError('sweep(): olderThanMs must be at least two hours')
  const space = openSpace(store, prefix)
  const { keys } = space
  const before = clock() - olderThanMs
  const old: string[] = []
  let keptCount = 0
  for (const below of [keys.contents, keys.nodes, keys.probes]) {
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await space.store.list(below, cursor)
      for (const { key, uploadedAt } of page.objects) {
        if (uploadedAt < before) old.push(key)
        else keptCount += 1
      }
      cursor = page.cursor
    }
  }
  // Read after the listing: an old object that the tree does not name now will never be named.
  const used = await usedKeys(space)
  const unused = old.filter((key) => !used.has(key))
  if (unused.length > 0) await space.store.delete(unused)
  return { kept: keptCount + old.length - unused.length, deleted: unused.length }
}

/** The keys of all objects that the current tree uses. */
function usedKeys({ root, nodes, keys }: Space): Promise<ReadonlySet<string>> {
  return onTree({ load: root.load, reload: root.load }, async ({ top }) => {
    const used = new Set<string>()
    const visit = async (node: Node): Promise<void> => {
      if (isLeaf(node)) {
        for (const entry of node.entries) {
          if (entry.type !== 'file') continue
          const piece = { location: entry.content, size: entry.stat.size }
          for (const name of objectNames(piece)) used.add(keys.contents + name)
        }
        return
      }
      for (const [index, child] of node.children.entries()) {
        used.add(keys.nodes + (objectNames(child)[0] as string))
        await visit(await nodes.load(node.children, index, true))
      }
    }
    await visit(top)
    return used
  })
}

const DAY_MS = 24 * 60 * 60 * 1000
