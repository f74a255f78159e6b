import { ToolError } from '../../errors.ts'
import { childOf, type Path, quote } from '../../paths/logical-path.ts'
import type { Backend, Capabilities, FileRead } from '../../storage/backend.ts'
import { canonicalSync, type LookupResult } from '../../storage/canonical-path.ts'
import { storedCapabilities } from '../../storage/plan-commit.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { type ReadVerb, wrongType } from '../../storage/wrong-type.ts'
import { createCommits } from './commit.ts'
import { openContents } from './contents.ts'
import { keysBelow } from './keys.ts'
import type { Entry, Manifest } from './manifest.ts'
import { withRetries } from './retry.ts'
import { openRoot } from './root.ts'
import type { ObjectStore } from './store.ts'

export { type BucketBinding, r2 } from './r2.ts'
export { type S3Options, s3 } from './s3.ts'
export type { ListedObject, ObjectStore, PutCondition, StoredObject } from './store.ts'
export { type SweepOptions, sweep } from './sweep.ts'

/** Where in the bucket the workspace lies. */
export interface ObjectStoreOptions {
  /** Where in the bucket the workspace lives, as `workspaces/a`. Default: `wardspace`. */
  readonly prefix?: string
  /** The time, in milliseconds since 1970, of commits that tell none. Default: `Date.now`. */
  readonly clock?: () => number
}

/**
 * A backend in a store of objects: an R2 bucket with `r2(bucket)`, an S3-compatible one with `s3({ … })`, or any other
 * that has reads and conditional writes. Many isolates may use one at the same time.
 *
 * One object, the manifest, holds the tree; the contents are objects that never change, in parts of 8 MiB. A commit puts the
 * contents first and then the manifest, on the condition that it is still the one that was judged: so every change set
 * happens whole or not at all, and of several writers with one expected version exactly one wins. Each read first asks
 * whether the manifest changed. It has about 150 bytes for each file, and is written with every commit: made for
 * workspaces of up to some ten thousand files.
 *
 * What an interrupted commit left behind is deleted by {@link sweep}.
 *
 * @throws TypeError for a prefix that is no plain path
 * @example
 * ```ts
 * const backend = objectStore(r2(env.BUCKET), { prefix: 'workspaces/a' })
 * ```
 */
export function objectStore(store: ObjectStore, options: ObjectStoreOptions = {}): Backend {
  const calls = withRetries(store)
  const keys = keysBelow(options.prefix)
  const root = openRoot(calls, keys.manifest)
  const contents = openContents(calls, keys.contents)
  const commit = createCommits({ store: calls, keys, root, contents, clock: options.clock ?? Date.now })

  const now = async () => (await root.load()).manifest
  const refuse = (verb: ReadVerb, path: Path, tree: Manifest) => wrongType(verb, path, (at) => tree.at(at)?.type)

  /** The content of a file may be gone because it was replaced meanwhile: then there is another one to be read. */
  async function readFile(path: Path, range: Parameters<Backend['read']>[1], from?: Manifest): Promise<FileRead> {
    let tree = from ?? (await now())
    for (;;) {
      const entry = tree.at(path)
      if (entry?.type !== 'file') throw refuse('read', path, tree)
      const { stat } = entry
      const { start, end } = rangeOf(path, range, stat, () => entry.sha256)
      const bytes = await contents.read(entry.content, stat.size, start, end)
      if (bytes !== undefined) return { bytes, stat }
      const later = await now()
      const present = later.at(path)
      if (present?.type === 'file' && present.content === entry.content) {
        throw new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: its content is missing in the store`, {
          path,
        })
      }
      tree = later
    }
  }

  return {
    capabilities,

    async canonical(path, how) {
      const tree = await now()
      const look = (at: Path): LookupResult => {
        const entry = tree.at(at)
        return entry?.type === 'link' ? { link: entry.target } : entry
      }
      const entry = tree.at(path as Path)
      if (entry !== undefined && (entry.type !== 'link' || how?.noFollow)) return path as Path
      return canonicalSync(look, path, how?.noFollow ?? false)
    },

    async stat(path) {
      return (await now()).at(path)?.stat
    },

    async list(path) {
      const tree = await now()
      if (tree.at(path)?.type !== 'directory') throw refuse('list', path, tree)
      return Array.from(tree.names(path), (name) => ({ name, type: (tree.at(childOf(path, name)) as Entry).type }))
    },

    read: (path, range) => readFile(path, range),

    async readLink(path) {
      const tree = await now()
      const entry = tree.at(path)
      if (entry?.type !== 'link') throw refuse('read link', path, tree)
      return entry.target
    },

    commit,

    async scan(paths, visit) {
      const tree = await now()
      for (let at = 0; at < paths.length; at += SCANNED_AT_ONCE) {
        const reads = paths.slice(at, at + SCANNED_AT_ONCE).map(async (path) => {
          if (tree.at(path)?.type !== 'file') return undefined
          return readFile(path, undefined, tree).catch((error: unknown) => {
            // It went while the others were read.
            if (error instanceof ToolError && error.code !== 'BACKEND_ERROR') return undefined
            throw error
          })
        })
        const found = await Promise.all(reads)
        for (const [index, read] of found.entries()) {
          if (read !== undefined && !visit(paths[at + index] as Path, read.bytes, read.stat)) return
        }
      }
    },

    async close() {},
  }
}

/** Files of a scan on their way at once. */
const SCANNED_AT_ONCE = 6

const capabilities: Capabilities = Object.freeze({ ...storedCapabilities, authority: 'shared' })
