import { LONGEST_COMMIT_MS } from './commit.ts'
import { keysOf } from './contents.ts'
import { keysBelow } from './keys.ts'
import { withRetries } from './retry.ts'
import { openRoot } from './root.ts'
import type { ObjectStore } from './store.ts'

/** What may be swept away, and when. */
export interface SweepOptions {
  /** The prefix of the workspace, as given to `objectStore`. */
  readonly prefix?: string
  /** Younger objects stay, since a commit may be about to name them. Default: a day; at least two hours. */
  readonly olderThanMs?: number
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number
}

/**
 * Deletes the objects of a workspace that nothing names: what was left behind by commits that were interrupted. Safe
 * beside readers and writers. Meant to be run now and then, as by a cron trigger.
 *
 * @returns how many objects were kept and deleted
 * @throws TypeError for an age below two hours: a commit that takes long could lose its contents
 */
export async function sweep(
  store: ObjectStore,
  { prefix, olderThanMs = DAY_MS, clock = Date.now }: SweepOptions = {},
): Promise<{ readonly kept: number; readonly deleted: number }> {
  if (!(olderThanMs >= 2 * LONGEST_COMMIT_MS)) throw new TypeError('sweep(): olderThanMs must be at least two hours')
  const calls = withRetries(store)
  const keys = keysBelow(prefix)
  const before = clock() - olderThanMs
  const old: string[] = []
  let kept = 0
  for (const below of [keys.contents, keys.probes]) {
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await calls.list(below, cursor)
      for (const { key, uploadedAt } of page.objects) {
        if (uploadedAt < before) old.push(key)
        else kept += 1
      }
      cursor = page.cursor
    }
  }
  // Read after the list: what nobody names now will never be named, for a content is named soon after it was put.
  const { manifest } = await openRoot(calls, keys.manifest).load()
  const named = new Set<string>()
  for (const entry of manifest.entries.values()) {
    if (entry.type === 'file') for (const key of keysOf(keys.contents, entry.content, entry.stat.size)) named.add(key)
  }
  const idle = old.filter((key) => !named.has(key))
  if (idle.length > 0) await calls.delete(idle)
  return { kept: kept + old.length - idle.length, deleted: idle.length }
}

const DAY_MS = 24 * 60 * 60 * 1000
