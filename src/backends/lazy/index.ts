import { sha256 } from '../../files/hash/sha256.ts'
import { type Path, ROOT } from '../../paths/logical-path.ts'
import type { Backend, Capabilities, Stat } from '../../storage/backend.ts'
import { canonical } from '../../storage/canonical-path.ts'
import { storedCapabilities } from '../../storage/plan-commit.ts'
import { readOnly } from '../../storage/read-only.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { type ReadVerb, wrongType } from '../../storage/wrong-type.ts'
import {
  checkArgument,
  checkOptions,
  isAbortSignal,
  isObjectWith,
  isPositive,
  refuseSurplus,
} from '../../util/check-options.ts'
import { memoizeAsync } from '../../util/memoize-async.ts'
import { Contents, type LoadBounds, SourceCalls } from './contents.ts'
import { createListing, type Listing, type Omitted } from './listing.ts'
import type { LazyEntry, LazySource } from './source.ts'

export { type GithubEntry, type GithubOptions, github } from './github.ts'
export type { Fetch } from './http.ts'
export { type HttpIndexOptions, httpIndex } from './http-index.ts'
export type { Omitted } from './listing.ts'
export type {
  LazyContent,
  LazyDirectory,
  LazyEntry,
  LazyFile,
  LazyLink,
  LazyOmitted,
  LazyOther,
  LazySource,
  LoadOptions,
} from './source.ts'
export { type ZipOptions, zip } from './zip.ts'
export type { ZipEntry, ZipPlace } from './zip-directory.ts'

/** Options of {@link lazy}. */
export interface LazyOptions {
  /**
   * Bytes of loaded contents that stay in memory, and of contents that load at the same time. A larger file cannot be
   * read. Default: 64 MiB.
   */
  readonly cacheBytes?: number
  /** Maximum number of contents that load at the same time. Default: 8. */
  readonly concurrency?: number
  /** Time limit of the listing and of each content, in milliseconds. Default: 60,000. */
  readonly timeoutMs?: number
  /** Aborts everything that is loading. Reads that need to load fail from then on with `ABORTED`. */
  readonly signal?: AbortSignal
}

/** A read-only backend whose contents are loaded when they are first read. */
export interface LazyBackend extends Backend {
  /**
   * Returns what the source lists and the backend does not show, or shows as an entry that cannot be read: names that are
   * not allowed, paths that are listed twice, submodules of a repository.
   */
  omitted(): Promise<readonly Omitted[]>
}

/**
 * Creates a read-only backend over a source that lists all of its files at once and loads each one when it is first read:
 * `github(repository)`, `zip(archive)`, `httpIndex(url)`, or an object with `list` and `load`. Put an `overlay` over it to change files.
 *
 * The listing is loaded with the first use of the backend, and stays. Listing and finding files load no contents but those
 * of `.gitignore` files. Readers of one file share its loading, a search loads several files ahead, and a failed loading is
 * repeated by the next read. A content that is not the listed one is a `BACKEND_ERROR`.
 *
 * @example
 * const texts = { 'notes/a.txt': 'one\n', 'notes/b.txt': 'two\n' }
 * const notes = lazy({
 *   list: async () => Object.entries(texts).map(([path, text]) => ({ type: 'file', path, size: text.length })),
 *   load: async ({ path }) => new TextEncoder().encode(texts[path]),
 * })
 * const workspace = await createWorkspace({ backend: overlay(notes), policy: 'autonomous' })
 */
export function lazy<E extends LazyEntry>(source: LazySource<E>, options?: LazyOptions): LazyBackend {
  refuseSurplus('lazy()', 2, arguments)
  checkArgument('lazy()', 'source', source, isObjectWith('a source with list() and load()', 'list', 'load'))
  const {
    cacheBytes = 64 * 1024 * 1024,
    concurrency = 8,
    timeoutMs = 60_000,
    signal,
  } = checkOptions<LazyOptions>('lazy()', options, {
    cacheBytes: isPositive,
    concurrency: isPositive,
    timeoutMs: isPositive,
    signal: isAbortSignal,
  })
  const bounds: LoadBounds = { cacheBytes, concurrency, timeoutMs, signal }
  const calls = new SourceCalls(bounds)
  const contents = new Contents(source, calls, bounds)
  const listing = memoizeAsync(() =>
    calls.run('list', ROOT, async (loading) => createListing(await source.list(loading), loading.signal)),
  )
  return {
    ...readOnly({
      capabilities,
      ...createReads(listing, contents, bounds),
      commit: async () => ({ applied: [] }),
      async close() {
        calls.close()
      },
    }),
    omitted: async () => (await listing()).omitted,
  }
}

/** The tree of a source never changes, and outlives the process. */
const capabilities: Capabilities = Object.freeze({ ...storedCapabilities, times: 'none' })

type Reads = Required<Pick<Backend, 'canonical' | 'stat' | 'list' | 'read' | 'readLink' | 'scan'>>

function createReads<E extends LazyEntry>(
  listing: () => Promise<Listing<E>>,
  contents: Contents<E>,
  { concurrency, cacheBytes }: LoadBounds,
): Reads {
  type Tree = Listing<E>
  const refusal = (tree: Tree, verb: ReadVerb, path: Path) => wrongType(verb, path, (at) => tree.node(at)?.type)
  const reads: Reads = {
    canonical: (path, options) => canonical(reads, path, options),

    stat: async (path) => (await listing()).node(path)?.stat,

    async list(path) {
      const tree = await listing()
      const node = tree.node(path)
      if (node?.type !== 'directory') throw refusal(tree, 'list', path)
      return node.entries
    },

    async read(path, range) {
      const tree = await listing()
      const node = tree.node(path)
      if (node?.type !== 'file') throw refusal(tree, 'read', path)
      const { stat, entry } = node
      const bytes = await contents.read(path, entry)
      const { start, end } = rangeOf(path, range, stat, () => sha256(bytes))
      return { bytes: bytes.subarray(start, end), stat }
    },

    async readLink(path) {
      const tree = await listing()
      const node = tree.node(path)
      if (node?.type !== 'link') throw refusal(tree, 'read link', path)
      const { entry } = node
      if (entry.type === 'link' && entry.target !== undefined) return entry.target
      return new TextDecoder().decode(await contents.read(path, entry))
    },

    async scan(paths, visit, maxBytes = Number.POSITIVE_INFINITY) {
      const tree = await listing()
      const files = paths.flatMap((path) => {
        const node = tree.node(path)
        return node?.type === 'file' ? [{ path, node }] : []
      })
      const ahead: Promise<Uint8Array>[] = []
      let aheadBytes = 0
      for (const [index, { path, node }] of files.entries()) {
        for (let next = index + ahead.length; ahead.length < concurrency; next++) {
          const file = files[next]
          if (file === undefined) break
          const size = loadedSize(file.node, maxBytes)
          if (ahead.length > 0 && aheadBytes + size > cacheBytes) break
          aheadBytes += size
          const loading = size === 0 ? EMPTY : contents.read(file.path, file.node.entry)
          // It is awaited in its turn, or not at all.
          loading.catch(() => undefined)
          ahead.push(loading)
        }
        const bytes = (await ahead.shift()) as Uint8Array
        aheadBytes -= loadedSize(node, maxBytes)
        if (!visit(path, bytes, node.stat)) return
      }
    },
  }
  return reads
}

const EMPTY = Promise.resolve(new Uint8Array())

function loadedSize({ stat: { size } }: { readonly stat: Stat }, maxBytes: number): number {
  return size > maxBytes ? 0 : size
}
