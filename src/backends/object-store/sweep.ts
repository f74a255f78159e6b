import { checkOptions, isClock, isPositive, isText, refuseSurplus } from '../../util/check-options.ts'
import { compact, usedObjects } from './compact.ts'
import { onTree, openSpace } from './space.ts'
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
 * Deletes the unused objects of a workspace, such as those of interrupted commits, and packs small ones when there are
 * many, so that searches stay fast. Safe beside readers and writers. Run it once a day, for example by a cron trigger.
 *
 * @returns the numbers of kept and deleted objects
 * @throws TypeError for an age below two hours, at which a slow commit could lose its contents
 */
export async function sweep(
  store: ObjectStore,
  options?: SweepOptions,
): Promise<{ readonly kept: number; readonly deleted: number }> {
  refuseSurplus('sweep()', 2, arguments)
  const table = { prefix: isText, olderThanMs: isPositive, clock: isClock }
  const { prefix, olderThanMs = DAY_MS, clock = Date.now } = checkOptions<SweepOptions>('sweep()', options, table)
  if (!(olderThanMs >= 2 * MAX_COMMIT_MS)) throw new TypeError('sweep(): olderThanMs must be at least two hours')
  const space = openSpace(store, prefix)
  const { keys } = space
  const oldest = clock() - olderThanMs
  const old: string[] = []
  let keptCount = 0
  for (const below of [keys.contents, keys.nodes, keys.probes]) {
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await space.store.list(below, cursor)
      for (const { key, uploadedAt } of page.objects) {
        if (uploadedAt < oldest) old.push(key)
        else keptCount += 1
      }
      cursor = page.cursor
    }
  }
  // Read after the listing: an old object that neither tree names will never be named.
  const source = { load: space.root.load, reload: space.root.load }
  const [before, usedBefore] = await onTree(source, async (tree) => [tree, await usedObjects(space, tree)] as const)
  await compact(space, before, usedBefore)
  const usedNow = await onTree(source, (tree) => usedObjects(space, tree))
  const unused = old.filter((key) => !usedBefore.has(key) && !usedNow.has(key))
  if (unused.length > 0) await space.store.delete(unused)
  return { kept: keptCount + old.length - unused.length, deleted: unused.length }
}

const DAY_MS = 24 * 60 * 60 * 1000
