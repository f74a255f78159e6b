import { ToolError } from '../../errors.ts'
import { sha256Cached } from '../../files/hash/sha256.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Backend, Capabilities, FileRead, ScanVisit } from '../../storage/backend.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { nodeAt, nodeFinder } from '../../storage/tree.ts'
import { type TreeReads, treeReads } from '../../storage/tree-nodes.ts'
import { wrongType } from '../../storage/wrong-type.ts'
import { CommitQueue } from './commit-queue.ts'
import { StoredFile } from './contents.ts'
import type { Lease } from './lease.ts'
import { type PackedOptions, PackedStore } from './packed-store.ts'

/** A backend over a journal, with its tree in memory, and contents on demand. */
export type PackedBackend = Backend & Required<Pick<Backend, 'tree' | 'scan'>>

/**
 * Opens a packed workspace. The journal is replayed into a persistent tree; contents are read from it when they are needed. A commit appends one
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

  const fileAt = (path: Path): StoredFile => {
    const node = nodeAt(store.root, path)
    if (node instanceof StoredFile) return node
    throw wrongType('read', path, (at) => nodeAt(store.root, at)?.type)
  }

  async function read(path: Path, range?: Parameters<Backend['read']>[1]): Promise<FileRead> {
    for (let last: StoredFile | undefined; ; ) {
      const refreshing = store.current()
      if (refreshing !== undefined) await refreshing
      const file = fileAt(path)
      const bytes = store.contents.present(file) ?? (await file.load())
      if (bytes !== undefined) return partOf(path, file, bytes, range)
      // Another tab has changed it meanwhile.
      if (file === last)
        throw new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: its content is missing`, { path })
      last = file
    }
  }

  await store.current()
  return {
    capabilities,
    canonical: fresh('canonical'),
    stat: fresh('stat'),
    list: fresh('list'),
    read,
    readLink: fresh('readLink'),
    scan: (paths, visit, maxBytes) => scanFiles(store, read, paths, visit, maxBytes),
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

/** Scans files, about a megabyte of contents at once. `read` reads one that another tab has changed meanwhile. */
async function scanFiles(
  store: PackedStore,
  read: (path: Path) => Promise<FileRead>,
  paths: readonly Path[],
  visit: ScanVisit,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<void> {
  const refreshing = store.current()
  if (refreshing !== undefined) await refreshing
  const find = nodeFinder(store.root)
  let next = 0
  while (next < paths.length) {
    const batch: { readonly path: Path; readonly file: StoredFile }[] = []
    for (let bytes = 0; next < paths.length && bytes < BATCH_BYTES; next++) {
      const path = paths[next] as Path
      const file = find(path)
      if (!(file instanceof StoredFile)) continue
      batch.push({ path, file })
      bytes += file.stat.size > maxBytes ? 0 : file.stat.size
    }
    const contents = await store.contents.load(batch.flatMap(({ file }) => (file.stat.size > maxBytes ? [] : [file])))
    let loaded = 0
    for (const { path, file } of batch) {
      let now: FileRead | undefined = { bytes: NOTHING, stat: file.stat }
      if (file.stat.size <= maxBytes) {
        const bytes = contents[loaded]
        loaded += 1
        now = bytes === undefined ? await read(path).catch(ignoreMissing) : { bytes, stat: file.stat }
      }
      if (now !== undefined && !visit(path, now.bytes, now.stat)) return
    }
  }
}

/** Returns what a read of a file with a content returns. */
function partOf(
  path: Path,
  { stat, hash }: StoredFile,
  bytes: Uint8Array,
  range: Parameters<Backend['read']>[1],
): FileRead {
  if (range === undefined) return { bytes, stat }
  const { start, end } = rangeOf(path, range, stat, () => hash ?? sha256Cached(bytes))
  return { bytes: bytes.subarray(start, end), stat }
}

const BATCH_BYTES = 1024 * 1024
const NOTHING = new Uint8Array()

function ignoreMissing(error: unknown): undefined {
  if (error instanceof ToolError && error.code !== 'BACKEND_ERROR') return undefined
  throw error
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
