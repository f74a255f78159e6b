import type { Path } from '../../paths/logical-path.ts'
import type { Backend, Stat } from '../../storage/backend.ts'
import { canonicalSync, type LookupResult } from '../../storage/canonical-path.ts'
import { hashBytes, planStoredCommit, storedCapabilities } from '../../storage/plan-commit.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { type ReadVerb, wrongType } from '../../storage/wrong-type.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { openContents } from './contents.ts'
import { type DurableStorage, openDatabase } from './database.ts'
import { type Entry, openEntries } from './entries.ts'

export type { DurableStorage, SqlRows, SqlValue } from './database.ts'

/** What time commits are given. */
export interface DurableObjectOptions {
  /** The time, in milliseconds since 1970, of commits that tell none. Default: `Date.now`. */
  readonly clock?: () => number
}

/**
 * A backend in the SQLite storage of a Cloudflare Durable Object: give it `ctx.storage` of a class that is migrated with
 * `new_sqlite_classes`. Its tables are named `wardspace_…`, beside any that the object has of its own.
 *
 * A commit judges and applies its whole set in one transaction within one turn, so that two never mix. The platform holds
 * back every answer and every request that the object makes until what was written before is safe; therefore a commit
 * that anyone outside has heard of survives. Only what is asked for is in memory: contents are stored in parts.
 *
 * @throws TypeError for a storage without SQLite, or one that a later version of this library made
 * @example
 * ```ts
 * class Workspace extends DurableObject {
 *   backend = durableObject(this.ctx.storage)
 * }
 * ```
 */
export function durableObject(storage: DurableStorage, options: DurableObjectOptions = {}): DurableObjectBackend {
  if (typeof storage?.transactionSync !== 'function' || storage.sql === undefined) {
    throw new TypeError('durableObject(): needs the storage of a Durable Object with SQLite (new_sqlite_classes)')
  }
  const clock = options.clock ?? Date.now
  const database = openDatabase(storage)
  const contents = openContents(database)
  const entries = openEntries(database)

  const tree = { at: entries.at, names: (path: Path) => entries.in(path).map(({ name }) => name) }
  const typeAt = (path: Path) => entries.at(path)?.type
  const refuse = (verb: ReadVerb, path: Path) => wrongType(verb, path, typeAt)
  const look = (path: Path): LookupResult => {
    const entry = entries.at(path)
    return entry?.type === 'link' ? { link: entry.target } : entry
  }

  return {
    capabilities: storedCapabilities,

    async canonical(path, how) {
      const type = path === '' ? 'directory' : typeAt(path as Path)
      // A row is found by its whole path, so that no link is above it.
      if (type !== undefined && (type !== 'link' || how?.noFollow)) return path as Path
      return canonicalSync(look, path, how?.noFollow ?? false)
    },

    async stat(path) {
      return entries.at(path)?.stat
    },

    async list(path) {
      if (typeAt(path) !== 'directory') throw refuse('list', path)
      return [...entries.in(path)].sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    async read(path, range) {
      const entry = entries.at(path)
      if (entry?.type !== 'file') throw refuse('read', path)
      const { stat } = entry
      const { start, end } = rangeOf(path, range, stat, () => entry.sha256)
      return { bytes: contents.read(entry.content, start, end), stat }
    },

    async readLink(path) {
      const entry = entries.at(path)
      if (entry?.type !== 'link') throw refuse('read link', path)
      return entry.target
    },

    async commit(changes, how) {
      const hashes = await hashBytes(changes)
      throwIfAborted(how.signal)
      // From here to the end nothing waits, so that nothing else can come in between.
      return database.transaction(() => {
        let counter = entries.counter()
        const { steps, fresh, dropped, receipt } = planStoredCommit<number>(changes, {
          tree,
          hashes,
          tag: () => String(counter++),
          content: () => counter++,
          at: how.at ?? clock(),
        })
        for (const { content } of dropped) contents.remove(content)
        for (const [content, bytes] of fresh) contents.write(content, bytes)
        for (const [path, entry] of steps) {
          if (entry === undefined) entries.remove(path)
          else entries.put(path, entry)
        }
        if (steps.size > 0) entries.setCounter(counter)
        return receipt
      })
    },

    async scan(paths, visit) {
      for (const path of paths) {
        const entry: Entry | undefined = entries.at(path)
        if (entry?.type !== 'file') continue
        if (!visit(path, contents.read(entry.content, 0, entry.stat.size), entry.stat)) return
      }
    },

    async close() {},
  }
}

/** A {@link durableObject} backend: it always can scan. */
export interface DurableObjectBackend extends Backend {
  scan(paths: readonly Path[], visit: (path: Path, bytes: Uint8Array, stat: Stat) => boolean): Promise<void>
}
