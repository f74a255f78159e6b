import type { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Backend, Change, Receipt, Stat } from '../../storage/backend.ts'
import { canonicalSync, type LookupResult } from '../../storage/canonical-path.ts'
import { hashBytes, planNumberedCommit, storedCapabilities } from '../../storage/plan-commit.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { damaged } from '../../storage/stored-entry.ts'
import { type ReadVerb, wrongType } from '../../storage/wrong-type.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { checkOptions, isClock, refuseSurplus } from '../../util/check-options.ts'
import { type DurableStorage, openDatabase } from './database.ts'
import { type Entries, type Entry, openEntries } from './entries.ts'

export type { DurableStorage, SqlRows, SqlValue } from './database.ts'

/** Options of {@link durableObject}. */
export interface DurableObjectOptions {
  /** Time of commits that do not specify one, in milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number
}

/**
 * Creates a backend in the SQLite storage of a Cloudflare Durable Object. Pass `ctx.storage` of a class that is migrated
 * with `new_sqlite_classes`. Its tables are named `wardspace_…` and do not affect other tables of the object.
 *
 * A commit checks and applies its change set in one synchronous transaction, so two commits never interleave. The platform
 * holds back every response and request of the object until earlier writes are durable, so a commit that is visible
 * outside survives a crash. Only requested data is in memory: contents are stored in parts.
 *
 * @throws TypeError for a storage without SQLite, or one of a newer version of this library
 * @example
 * class Workspace extends DurableObject {
 *   backend = durableObject(this.ctx.storage)
 * }
 */
export function durableObject(storage: DurableStorage, options?: DurableObjectOptions): DurableObjectBackend {
  refuseSurplus('durableObject()', 2, arguments)
  if (typeof storage?.transactionSync !== 'function' || storage.sql === undefined) {
    throw new TypeError('durableObject(): needs the storage of a Durable Object with SQLite (new_sqlite_classes)')
  }
  const table = { clock: isClock }
  const { clock = Date.now } = checkOptions<DurableObjectOptions>('durableObject()', options, table)
  const database = openDatabase(storage)
  const entries = openEntries(database)

  return {
    capabilities: storedCapabilities,

    async canonical(path, { noFollow = false } = {}) {
      const type = path === '' ? 'directory' : entries.get(path as Path)?.type
      // A row has the complete path as its key, so no link is above it.
      if (type !== undefined && (type !== 'link' || noFollow)) return path as Path
      return canonicalSync((at) => lookUp(entries, at), path, noFollow)
    },

    async stat(path) {
      return entries.get(path)?.stat
    },

    async list(path) {
      if (entries.get(path)?.type !== 'directory') throw wrongTypeIn(entries, 'list', path)
      return [...entries.list(path)].sort((a, b) => (a.name < b.name ? -1 : 1))
    },

    async read(path, range) {
      const entry = entries.get(path)
      if (entry?.type === 'other') throw damaged(path)
      if (entry?.type !== 'file') throw wrongTypeIn(entries, 'read', path)
      const { stat } = entry
      const { start, end } = rangeOf(path, range, stat, () => entry.sha256)
      return { bytes: entries.readContent(path, entry, start, end), stat }
    },

    async readLink(path) {
      const entry = entries.get(path)
      if (entry?.type !== 'link') throw wrongTypeIn(entries, 'read link', path)
      return entry.target
    },

    async commit(changes, { signal, at }) {
      const hashes = await hashBytes(changes)
      throwIfAborted(signal)
      // Synchronous from here on, so no other commit can interleave.
      return database.transaction(() => applyCommit(entries, changes, hashes, at ?? clock()))
    },

    async scan(paths, visit, maxBytes = Number.POSITIVE_INFINITY) {
      for (const path of paths) {
        const entry: Entry | undefined = entries.get(path)
        if (entry?.type !== 'file') continue
        const { size } = entry.stat
        if (!visit(path, entries.readContent(path, entry, 0, size > maxBytes ? 0 : size), entry.stat)) return
      }
    },

    async close() {},
  }
}

/** Checks and applies a change set. Runs in a transaction. */
function applyCommit(
  entries: Entries,
  changes: readonly Change[],
  hashes: ReadonlyMap<Uint8Array, string>,
  at: number,
): Receipt {
  const tree = { at: entries.get, names: (path: Path) => entries.list(path).map(({ name }) => name) }
  const { steps, fresh, dropped, receipt, next } = planNumberedCommit(changes, { tree, hashes, at }, entries.counter())
  for (const { content } of dropped) entries.removeContent(content)
  for (const [content, bytes] of fresh) entries.writeContent(content, bytes)
  for (const [path, entry] of steps) {
    if (entry === undefined) entries.remove(path)
    else entries.put(path, entry)
  }
  if (steps.size > 0) entries.setCounter(next)
  return receipt
}

function lookUp(entries: Entries, path: Path): LookupResult {
  const entry = entries.get(path)
  return entry?.type === 'link' ? { link: entry.target } : entry
}

function wrongTypeIn(entries: Entries, verb: ReadVerb, path: Path): ToolError {
  return wrongType(verb, path, (at) => entries.get(at)?.type)
}

/** A {@link durableObject} backend. It always supports `scan`. */
export interface DurableObjectBackend extends Backend {
  scan(paths: readonly Path[], visit: (path: Path, bytes: Uint8Array, stat: Stat) => boolean): Promise<void>
}
