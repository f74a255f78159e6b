import type { Backend, Capabilities } from '../../storage/backend.ts'
import { storedCapabilities } from '../../storage/plan-commit.ts'
import { checkOptions, isClock, isObjectWith, isText, refuseSurplus } from '../../util/check-options.ts'
import { createCommits } from './commit.ts'
import { createReads } from './reads.ts'
import { openSource, openSpace } from './space.ts'
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
 * The tree is a B-tree of immutable nodes. One object, the manifest, contains its top. Contents are immutable objects, in
 * parts of 8 MiB; a commit with many small files writes them as packs. A commit writes the contents and the changed nodes
 * first, and then the manifest, on the condition that it is unchanged since the check. So a change set is applied
 * completely or not at all, and of several writers that expect the same version exactly one succeeds. Each read first
 * checks whether the manifest changed; those of one call of a tool at most every two seconds.
 *
 * {@link sweep} deletes the objects that the tree does not use any more. Run it once a day.
 *
 * @throws TypeError for a prefix that is not a plain path
 * @example
 * const backend = objectStore(r2(env.BUCKET), { prefix: 'workspaces/a' })
 */
export function objectStore(store: ObjectStore, options?: ObjectStoreOptions): Backend {
  refuseSurplus('objectStore()', 2, arguments)
  const { prefix, clock = Date.now } = checkOptions<ObjectStoreOptions>('objectStore()', options, {
    prefix: isText,
    clock: isClock,
  })
  isObjectWith('an object store', 'get', 'put', 'delete', 'list')(store, 'store', 'objectStore()')
  const space = openSpace(store, prefix)
  const source = openSource(space.root)
  return {
    capabilities,
    ...createReads(space, source),
    commit: createCommits(space, clock),
    pin: source.pin,
    async close() {},
  }
}

const capabilities: Capabilities = Object.freeze({ ...storedCapabilities, authority: 'shared' })
