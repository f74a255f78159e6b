import type { Backend, Capabilities } from '../../storage/backend.ts'
import { type TreeReads, treeReads } from '../../storage/tree-nodes.ts'
import { CommitQueue } from './commit-queue.ts'
import type { Lease } from './lease.ts'
import { type PackedOptions, PackedStore } from './packed-store.ts'

/** A backend over a journal, with its tree in memory. */
export type PackedBackend = Backend & Required<Pick<Backend, 'tree' | 'scan'>>

/**
 * Opens a packed workspace. The journal is replayed into a persistent tree, which serves all reads. A commit appends one
 * record to the journal; commits that wait at the same time share one write and one flush. If another tab has the lease,
 * a call first takes it back and replays the records that were added since.
 */
export async function openPacked(lease: Lease, options: PackedOptions): Promise<PackedBackend> {
  const store = new PackedStore(lease, options)
  const queue = new CommitQueue(store)
  let isClosed = false

  const reads = treeReads(() => store.root)
  /** A read that brings the tree up to date first. */
  function fresh<K extends keyof TreeReads>(name: K): TreeReads[K] {
    const read = reads[name] as (...args: unknown[]) => Promise<unknown>
    return (async (...args: unknown[]) => {
      const refreshing = store.current()
      if (refreshing !== undefined) await refreshing
      return read(...args)
    }) as TreeReads[K]
  }

  await store.current()
  return {
    capabilities,
    canonical: fresh('canonical'),
    stat: fresh('stat'),
    list: fresh('list'),
    read: fresh('read'),
    readLink: fresh('readLink'),
    scan: fresh('scan'),
    tree: () => store.root,
    commit: (changes, commitOptions) => queue.commit(changes, commitOptions),
    async close() {
      if (isClosed) return
      await queue.idle()
      isClosed = true
      await store.close()
    },
  }
}

const capabilities: Capabilities = Object.freeze({
  links: true,
  modes: true,
  times: 'set',
  caseSensitive: true,
  // Another writer must hold the lease, and every call takes it back.
  authority: 'sole',
  persistent: true,
  atomic: 'set',
})
