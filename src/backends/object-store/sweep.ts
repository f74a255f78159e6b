import { checkOptions, isFunction, isPositive, isText } from '../../util/check-options.ts'
import { MAX_COMMIT_MS } from './commit.ts'
import { keysOf } from './contents.ts'
import { keysBelow } from './keys.ts'
import { withRetries } from './retry.ts'
import { openRoot } from './root.ts'
import type { ObjectStore } from './store.ts'

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
  const calls = withRetries(store)
  const keys = keysBelow(prefix)
  const before = clock() - olderThanMs
  const old: string[] = []
  let keptCount = 0
  for (const below of [keys.contents, keys.probes]) {
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await calls.list(below, cursor)
      for (const { key, uploadedAt } of page.objects) {
        if (uploadedAt < before) old.push(key)
        else keptCount += 1
      }
      cursor = page.cursor
    }
  }
  // Read after the listing: an old content that the manifest does not name now will never be named.
  const { manifest } = await openRoot(calls, keys.manifest).load()
  const usedKeys = new Set<string>()
  for (const entry of manifest.entries.values()) {
    if (entry.type === 'file')
      for (const key of keysOf(keys.contents, entry.content, entry.stat.size)) usedKeys.add(key)
  }
  const unused = old.filter((key) => !usedKeys.has(key))
  if (unused.length > 0) await calls.delete(unused)
  return { kept: keptCount + old.length - unused.length, deleted: unused.length }
}

const DAY_MS = 24 * 60 * 60 * 1000
