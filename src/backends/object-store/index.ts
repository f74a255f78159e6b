import type { Backend, Capabilities } from '../../storage/backend.ts'
import { storedCapabilities } from '../../storage/plan-commit.ts'
import { checkOptions, isFunction, isObjectWith, isText } from '../../util/check-options.ts'
import { createCommits } from './commit.ts'
import { openContents } from './contents.ts'
import { keysBelow } from './keys.ts'
import { createReads } from './reads.ts'
import { withRetries } from './retry.ts'
import { openRoot } from './root.ts'
import type { ObjectStore } from './store.ts'

export { type BucketBinding, r2 } from './r2.ts'
export { type S3Options, s3 } from './s3.ts'
export type { ListedObject, ObjectStore, PutCondition, StoredObject } from './store.ts'
export { type SweepOptions, sweep } from './sweep.ts'

/** Options of {@link objectStore}. */
export interface ObjectStoreOptions {
  /** Prefix of all keys of the workspace, such as `workspaces/a`. Default: `wardspace`. */
  readonly prefix?: string
  /** Time of commits that do not specify one, in milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number
}

/**
 * Creates a backend in an object store: an R2 bucket with `r2(bucket)`, an S3-compatible one with `s3({ … })`, or any other
 * store with reads and conditional writes. Many isolates may use the same one concurrently.
 *
 * One object, the manifest, contains the tree. Contents are immutable objects, in parts of 8 MiB. A commit writes the
 * contents first and then the manifest, on the condition that it is unchanged since the check. So a change set is applied
 * completely or not at all, and of several writers that expect the same version exactly one succeeds. Each read first
 * checks whether the manifest changed. The manifest takes about 150 bytes per file and is written with every commit, which
 * suits workspaces of up to ten thousand files or so.
 *
 * {@link sweep} deletes the objects that an interrupted commit leaves behind.
 *
 * @throws TypeError for a prefix that is not a plain path
 * @example
 * ```ts
 * const backend = objectStore(r2(env.BUCKET), { prefix: 'workspaces/a' })
 * ```
 */
export function objectStore(store: ObjectStore, options?: ObjectStoreOptions): Backend {
  const { prefix, clock = Date.now } = checkOptions<ObjectStoreOptions>('objectStore()', options, {
    prefix: isText,
    clock: isFunction,
  })
  isObjectWith('an object store', 'get', 'put', 'delete', 'list')(store, 'store', 'objectStore()')
  const calls = withRetries(store)
  const keys = keysBelow(prefix)
  const root = openRoot(calls, keys.manifest)
  const contents = openContents(calls, keys.contents)
  const commit = createCommits({ store: calls, keys, root, contents, clock })
  const reads = createReads(async () => (await root.load()).manifest, contents)
  return { capabilities, ...reads, commit, async close() {} }
}

const capabilities: Capabilities = Object.freeze({ ...storedCapabilities, authority: 'shared' })
