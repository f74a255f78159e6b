import { type ErrorCode, ToolError } from '../../errors.ts'
import { nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import type { Backend, Change, DirectoryEntry, Receipt } from '../../storage/backend.ts'
import { joinParts, partsWithin, splitParts } from '../../storage/content-parts.ts'
import {
  emptyRoot,
  hashBytes,
  loadStoredTree,
  planNumberedCommit,
  type StoredEntry,
  storedCapabilities,
} from '../../storage/plan-commit.ts'
import { wholeEntry, wholeNames } from '../../storage/stored-entry.ts'
import { readIfFile, storedReads } from '../../storage/stored-reads.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { checkOptions, isClock, isObjectWith, refuseSurplus, requireText } from '../../util/check-options.ts'

/** Options of {@link indexedDb}. */
export interface IndexedDbOptions {
  /** Default: `globalThis.indexedDB`. */
  readonly factory?: IDBFactory
  /** Time of commits that do not specify one, in milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number
}

type Entry = StoredEntry<number>

/** Small parts make it cheap to read a range of a large file. */
const PART_BYTES = 1024 * 1024

/** Of the database. A newer library that stores something else has a higher one. */
const VERSION = 1

/**
 * Opens a workspace in a database of IndexedDB, for pages without OPFS and for service workers. Many tabs and workers may use
 * the same one. `opfs()` is many times faster where it exists.
 *
 * A commit checks and applies its change set in one transaction, so that of several writers that expect the same version exactly one
 * succeeds. A durable commit asks the browser to write to the disk before it ends.
 *
 * @param name of the workspace; its database is named `wardspace/NAME`
 * @throws TypeError for wrong options, and where there is no IndexedDB
 * @throws ToolError `BACKEND_ERROR` if the browser refuses the database, or has one of a newer version of this library
 * @example
 * const backend = globalThis.indexedDB === undefined ? memory() : await indexedDb('my-project')
 */
export async function indexedDb(name: string, options?: IndexedDbOptions): Promise<Backend> {
  refuseSurplus('indexedDb()', 2, arguments)
  requireText('indexedDb()', 'name', name)
  if (name === '') throw new TypeError('indexedDb(): name is empty')
  const { factory = globalThis.indexedDB, clock = Date.now } = checkOptions<IndexedDbOptions>('indexedDb()', options, {
    factory: isObjectWith('the IDBFactory of a page or worker', 'open'),
    clock: isClock,
  })
  if (factory === undefined) throw new TypeError('indexedDb(): there is no IndexedDB here')
  const database = await open(factory, `wardspace/${name}`)
  const source = lookups(() => begin(database, 'readonly'))
  const reads = storedReads(source)
  return {
    capabilities: Object.freeze({ ...storedCapabilities, authority: 'shared' }),
    ...reads,

    async commit(changes, { signal, at, durability }) {
      const hashes = await hashBytes(changes)
      throwIfAborted(signal)
      const mode = durability === 'durable' ? 'strict' : 'relaxed'
      const transaction = begin(database, 'readwrite', mode)
      const done = ended(transaction)
      try {
        const receipt = await commit(transaction, changes, hashes, at ?? clock())
        await done
        return receipt
      } catch (error) {
        done.catch(() => {})
        abort(transaction)
        throw toolError(error)
      }
    },

    async scan(paths, visit, maxBytes = Number.POSITIVE_INFINITY) {
      for (const path of paths) {
        const entry = await source.entryAt(path)
        if (entry?.type !== 'file') continue
        const isSkipped = entry.stat.size > maxBytes
        const file = isSkipped ? { bytes: new Uint8Array(), stat: entry.stat } : await readIfFile(reads, path)
        if (file !== undefined && !visit(path, file.bytes, file.stat)) return
      }
    },

    async close() {
      database.close()
    },
  }
}

const ENTRIES = 'entries'
const PARTS = 'parts'
const STATE = 'state'

async function open(factory: IDBFactory, name: string): Promise<IDBDatabase> {
  try {
    const request = factory.open(name, VERSION)
    request.onupgradeneeded = () => {
      for (const store of [ENTRIES, PARTS, STATE]) request.result.createObjectStore(store)
      request.transaction?.objectStore(STATE).put(1, 'next')
    }
    const database = await answer(request)
    // A newer version in another tab waits until this one lets go of the database.
    database.onversionchange = () => database.close()
    return database
  } catch (error) {
    throw toolError(error)
  }
}

function begin(database: IDBDatabase, mode: IDBTransactionMode, durability?: 'strict' | 'relaxed'): IDBTransaction {
  try {
    return database.transaction([ENTRIES, PARTS, STATE], mode, durability && { durability })
  } catch (error) {
    throw toolError(error)
  }
}

/** Looks up in the transaction that `transaction` returns: a new one for each lookup, or always the one of a commit. */
function lookups(transaction: () => IDBTransaction) {
  const ask = async <T>(request: () => IDBRequest<T>): Promise<T> => {
    try {
      return await answer(request())
    } catch (error) {
      throw toolError(error)
    }
  }
  return {
    async entryAt(path: Path): Promise<Entry | undefined> {
      const entry: unknown = await ask(() => transaction().objectStore(ENTRIES).get(keyOf(path)))
      if (entry === undefined) return path === '' ? emptyRoot : undefined
      return wholeEntry(entry)
    },

    async entriesIn(directory: Path): Promise<readonly DirectoryEntry[]> {
      // Arrays are sorted after strings, and the root itself has an empty name.
      const range = IDBKeyRange.bound([directory, ''], [directory, []], true)
      const store = transaction().objectStore(ENTRIES)
      const [keys, entries] = await Promise.all([ask(() => store.getAllKeys(range)), ask(() => store.getAll(range))])
      return wholeNames(
        (keys as [string, unknown][]).map(([, name], index) => ({ name, type: wholeEntry(entries[index]).type })),
      )
    },

    async bytesOf(content: number, start: number, end: number): Promise<Uint8Array | undefined> {
      const { first, count } = partsWithin(PART_BYTES, start, end)
      if (count === 0) return new Uint8Array()
      const range = IDBKeyRange.bound([content, first], [content, first + count - 1])
      const parts = await ask(() => transaction().objectStore(PARTS).getAll(range))
      return joinParts(parts as Uint8Array[], PART_BYTES, start, end)
    },
  }
}

/** Checks and applies a change set. A transaction lasts as long as it has requests, so that nothing else is awaited here. */
async function commit(
  transaction: IDBTransaction,
  changes: readonly Change[],
  hashes: ReadonlyMap<Uint8Array, string>,
  at: number,
): Promise<Receipt> {
  const [entries, parts, state] = [ENTRIES, PARTS, STATE].map((name) => transaction.objectStore(name)) as [
    IDBObjectStore,
    IDBObjectStore,
    IDBObjectStore,
  ]
  const source = lookups(() => transaction)
  const next = Number(await answer(state.get('next')))
  const tree = await loadStoredTree(changes, source.entryAt, source.entriesIn)
  const planned = planNumberedCommit(changes, { tree, hashes, at }, next)
  for (const { content } of planned.dropped) parts.delete(IDBKeyRange.bound([content], [content, []]))
  for (const [content, bytes] of planned.fresh) {
    for (const [part, piece] of splitParts(bytes, PART_BYTES).entries()) {
      // A copy: a part of a larger buffer would be stored with all of it.
      parts.put(piece.slice(), [content, part])
    }
  }
  for (const [path, entry] of planned.steps) {
    if (entry === undefined) entries.delete(keyOf(path))
    else entries.put(entry, keyOf(path))
  }
  if (planned.steps.size > 0) state.put(planned.next, 'next')
  return planned.receipt
}

function keyOf(path: Path): [parent: string, name: string] {
  return [parentOf(path), nameOf(path)]
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    transaction.onabort = () => reject(transaction.error)
  })
}

function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort()
  } catch {
    // It has ended already.
  }
}

/** The error of the browser is the cause, for the program: its message may contain names of databases. */
function toolError(cause: unknown): ToolError {
  if (cause instanceof ToolError) return cause
  const name = String((cause as { name?: unknown } | null)?.name ?? 'unknown')
  const [code, message] =
    reasons[name] ??
    (['BACKEND_ERROR', `The database of the browser failed (${/^\w{1,40}$/.test(name) ? name : 'unknown'})`] as const)
  return new ToolError(code, message, {}, { cause })
}

const reasons: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  QuotaExceededError: ['NO_SPACE', 'Cannot write: the quota of the browser is used up'],
  InvalidStateError: ['BACKEND_ERROR', 'The database of the browser is closed'],
  VersionError: ['BACKEND_ERROR', 'A newer version of this library has written the database of the browser'],
}
