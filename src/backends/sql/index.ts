import { type ErrorCode, ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Backend, Change, DirectoryEntry, Receipt } from '../../storage/backend.ts'
import { joinParts, partsWithin, splitParts } from '../../storage/content-parts.ts'
import {
  hashBytes,
  loadStoredTree,
  pathsOfCommit,
  planNumberedCommit,
  type StoredCommit,
  type StoredEntry,
  storedCapabilities,
} from '../../storage/plan-commit.ts'
import { isContentOf } from '../../storage/stored-entry.ts'
import { readIfFile, storedReads } from '../../storage/stored-reads.ts'
import { throwIfAborted } from '../../util/abort.ts'
import {
  type Check,
  checkOptions,
  isClock,
  isObjectWith,
  isText,
  OptionError,
  refuseSurplus,
} from '../../util/check-options.ts'
import { failureOf, isLocked, type SqlDatabase, type SqlQuery } from './database.ts'
import {
  bytesOf,
  entryOf,
  FORMAT,
  namesOf,
  PART_BYTES,
  partId,
  type SqlRow,
  type Statement,
  type Tables,
  tables,
  textOf,
} from './schema.ts'

export type { SqlDatabase, SqlQuery } from './database.ts'
export {
  type PgliteDatabase,
  type PooledClient,
  type PostgresClient,
  type PostgresPool,
  type PostgresSource,
  postgres,
} from './postgres.ts'
export type { SqlKind, SqlRow, SqlValue } from './schema.ts'
export {
  type LibsqlClient,
  type LibsqlQueries,
  type LibsqlTransaction,
  type SqliteConnection,
  type SqliteSource,
  type SqliteStatement,
  type SqliteWasm,
  sqlite,
} from './sqlite.ts'

/** Options of {@link sqlDatabase}. */
export interface SqlDatabaseOptions {
  /** The names of the tables begin with this word and `_`, so that one database can have many workspaces. Default: `wardspace`. */
  readonly prefix?: string
  /** Time of commits that do not specify one, in milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number
}

/**
 * Opens a workspace in a database of SQLite or Postgres: `sqlDatabase(sqlite(connection))`, `sqlDatabase(postgres(pool))`, or over
 * any other driver with queries and transactions. Creates its three tables if they do not exist. Many processes may use
 * the same one.
 *
 * A commit checks and applies its change set in one transaction, so that of several writers that expect the same version
 * exactly one succeeds. Whether a commit survives a power cut depends on the database: SQLite needs `PRAGMA synchronous` of
 * at least `FULL`, its default. `close` leaves the database open. Contents are stored in parts of 256 KiB, up to 16 GiB.
 *
 * @throws TypeError for wrong options, and for tables of a newer version of this library
 * @throws ToolError `BACKEND_ERROR` if the database refuses the tables
 * @example
 * const backend = await sqlDatabase(sqlite(new DatabaseSync('workspaces.db')), { prefix: 'agent_1' })
 */
export async function sqlDatabase(database: SqlDatabase, options?: SqlDatabaseOptions): Promise<Backend> {
  refuseSurplus('sqlDatabase()', 2, arguments)
  isObjectWith(
    'a database of sqlite() or postgres()',
    'query',
    'transaction',
    'isPersistent',
  )(database, 'database', 'sqlDatabase()')
  const { prefix = 'wardspace', clock = Date.now } = checkOptions<SqlDatabaseOptions>('sqlDatabase()', options, {
    prefix: isPrefix,
    clock: isClock,
  })
  const guarded = withToolErrors(database)
  const statements = tables(prefix, database.kind)
  await createTables(guarded, statements)
  const source = lookups(guarded.query, statements)
  const reads = storedReads(source)
  return {
    capabilities: Object.freeze({
      ...storedCapabilities,
      authority: 'shared',
      persistent: await guarded.isPersistent(),
    }),
    ...reads,

    async commit(changes, { signal, at }) {
      const hashes = await hashBytes(changes)
      throwIfAborted(signal)
      return guarded.transaction((query) => commit(query, statements, changes, hashes, at ?? clock()))
    },

    async scan(paths, visit, maxBytes = Number.POSITIVE_INFINITY) {
      for (let start = 0; start < paths.length; start += SCAN_PATHS) {
        const window = paths.slice(start, start + SCAN_PATHS)
        const entries = await source.entriesAt(window)
        const small = [...entries.values()].flatMap((entry) =>
          entry.type === 'file' && entry.stat.size <= Math.min(PART_BYTES, maxBytes) && entry.stat.size > 0
            ? [entry.content]
            : [],
        )
        const contents = await source.wholeContents(small)
        for (const path of window) {
          const entry = entries.get(path)
          if (entry?.type !== 'file') continue
          const { size } = entry.stat
          const isSkipped = size === 0 || size > maxBytes
          const bytes = isSkipped ? new Uint8Array() : contents.get(entry.content)
          const isWhole = bytes !== undefined && (isSkipped || isContentOf(entry, bytes))
          const file = isWhole ? { bytes, stat: entry.stat } : await readIfFile(reads, path)
          if (file !== undefined && !visit(path, file.bytes, file.stat)) return
        }
      }
    },

    async close() {},
  }
}

/** A word that is the start of a name in SQL, without quotes. SQLite has the names that begin with `sqlite_`. */
const isPrefix: Check = (value, path, owner) => {
  const prefix = isText(value, path, owner) as string
  if (/^(?!sqlite_|sqlite$)[a-z][a-z0-9_]{0,39}$/.test(prefix)) return prefix
  const rule = 'must have 1 to 40 of a-z, 0-9 and _, begin with a letter, and not with sqlite_'
  throw new OptionError(`Option "${path}" of ${owner} ${rule}: ${JSON.stringify(prefix)}`)
}

/** Paths that a scan looks up together: their contents have at most 16 MiB. */
const SCAN_PATHS = 64

/** Rows of one statement. */
const ROWS = 50

/** Bytes of one statement that stores contents. */
const STATEMENT_BYTES = 1024 * 1024

async function createTables(database: SqlDatabase, statements: Tables): Promise<void> {
  try {
    await database.transaction(async (query) => {
      for (const text of statements.create) await query(text, [])
    })
  } catch (error) {
    // Postgres refuses the tables that another process creates at the same moment.
    const [row] = await database.query(statements.state, []).catch(() => [])
    if (row === undefined) throw error
  }
  const [row] = await database.query(statements.state, [])
  if (Number(row?.format) !== FORMAT) {
    throw new TypeError(`sqlDatabase(): the tables have format ${row?.format}; this version knows ${FORMAT}`)
  }
}

function lookups(query: SqlQuery, statements: Tables) {
  const run = ({ text, values }: Statement) => query(text, values)

  const entriesAt = async (paths: Iterable<Path>): Promise<Map<Path, StoredEntry<number>>> => {
    const found = new Map<Path, StoredEntry<number>>()
    for (const some of groups([...paths], ROWS)) {
      for (const row of await run(statements.entriesAt(some))) found.set(pathOf(row), entryOf(row))
    }
    return found
  }

  const partsAt = async (ids: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> => {
    const parts = new Map<number, Uint8Array>()
    for (const row of ids.length === 0 ? [] : await run(statements.partsAt(ids))) {
      const bytes = bytesOf(row.bytes)
      if (bytes !== undefined) parts.set(Number(row.id), bytes)
    }
    return parts
  }

  return {
    entriesAt,

    async entryAt(path: Path) {
      return (await entriesAt([path])).get(path)
    },

    async entriesIn(directory: Path): Promise<readonly DirectoryEntry[]> {
      return namesOf(await run(statements.namesIn(directory)))
    },

    async bytesOf(content: number, start: number, end: number): Promise<Uint8Array | undefined> {
      const { first, count } = partsWithin(PART_BYTES, start, end)
      const ids = Array.from({ length: count }, (_, index) => partId(content, first + index))
      const parts: (Uint8Array | undefined)[] = []
      // A few at a time: a large file needs many.
      for (const some of groups(ids, 4)) {
        const found = await partsAt(some)
        parts.push(...some.map((id) => found.get(id)))
      }
      return joinParts(parts, PART_BYTES, start, end)
    },

    /** The contents that have one part. */
    async wholeContents(contents: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>> {
      const parts = await partsAt(contents.map((content) => partId(content, 0)))
      return new Map(
        contents.flatMap((content) => {
          const bytes = parts.get(partId(content, 0))
          return bytes === undefined ? [] : [[content, bytes] as const]
        }),
      )
    },
  }
}

/** Checks and applies a change set, in a transaction. */
async function commit(
  query: SqlQuery,
  statements: Tables,
  changes: readonly Change[],
  hashes: ReadonlyMap<Uint8Array, string>,
  at: number,
): Promise<Receipt> {
  const [state] = await query(statements.lockedState, [])
  const source = lookups(query, statements)
  const entries = await source.entriesAt(pathsOfCommit(changes))
  const tree = await loadStoredTree(changes, async (path) => entries.get(path), source.entriesIn)
  const planned = planNumberedCommit(changes, { tree, hashes, at }, Number(state?.next))
  for (const { text, values } of statementsOf(planned, statements)) await query(text, values)
  const { text, values } = statements.setNext(planned.next)
  if (planned.steps.size > 0) await query(text, values)
  return planned.receipt
}

function* statementsOf({ dropped, fresh, steps }: StoredCommit<number>, statements: Tables): Generator<Statement> {
  for (const { content } of dropped) yield statements.removeContent(content)
  const freshParts = [...fresh].flatMap(([content, all]) =>
    splitParts(all, PART_BYTES).map((piece, part) => [partId(content, part), piece] as const),
  )
  let waiting: (readonly [number, Uint8Array])[] = []
  let bytes = 0
  for (const part of freshParts) {
    waiting.push(part)
    bytes += part[1].length
    if (bytes < STATEMENT_BYTES && waiting.length < ROWS) continue
    yield statements.putParts(waiting)
    waiting = []
    bytes = 0
  }
  if (waiting.length > 0) yield statements.putParts(waiting)
  const removed = [...steps].flatMap(([path, entry]) => (entry === undefined ? [path] : []))
  for (const some of groups(removed, ROWS)) yield statements.remove(some)
  const stored = [...steps].flatMap(([path, entry]) => (entry === undefined ? [] : [[path, entry] as const]))
  for (const some of groups(stored, ROWS)) yield statements.put(some)
}

function pathOf(row: SqlRow): Path {
  const [parent, name] = [textOf(row.parent), textOf(row.name)]
  return (parent === '' ? String(name) : `${parent}/${name}`) as Path
}

function* groups<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

/** Throws only `ToolError`: messages of a database may contain values, and names of servers. */
function withToolErrors(database: SqlDatabase): SqlDatabase {
  const guard = async <T>(action: () => Promise<T>): Promise<T> => {
    try {
      return await action()
    } catch (error) {
      throw error instanceof ToolError ? error : databaseError(error)
    }
  }
  return {
    kind: database.kind,
    query: (text, values) => guard(() => rowsOf(database.query, text, values)),
    transaction: (action) =>
      guard(() => database.transaction((query) => action((text, values) => rowsOf(query, text, values)))),
    isPersistent: () => guard(() => database.isPersistent()),
  }
}

/** @throws ToolError for anything but a list of rows */
async function rowsOf(query: SqlQuery, ...statement: Parameters<SqlQuery>): Promise<readonly SqlRow[]> {
  const rows = await query(...statement)
  if (!Array.isArray(rows)) throw new ToolError('BACKEND_ERROR', 'The query() of the database returned no list of rows')
  return rows
}

/** The error of the driver is the cause, for the program: its message may contain values. */
function databaseError(cause: unknown): ToolError {
  const failure = failureOf(cause)
  const { name, number, primary } = failure
  const error = (code: ErrorCode, message: string) => new ToolError(code, message, {}, { cause })
  if (name.startsWith('SQLITE_FULL') || name === '53100' || primary === 13) {
    return error('NO_SPACE', 'Cannot write: the database is full')
  }
  if (name.startsWith('SQLITE_READONLY') || name === '25006' || primary === 8) {
    return error('READ_ONLY', 'Cannot write: the database is read-only')
  }
  if (isLocked(failure)) return error('BACKEND_ERROR', 'The database is locked by another process')
  if (name === '57014') return error('BACKEND_ERROR', 'The database took longer than its own time limit')
  if (/\b(closed|not open|ended?)\b|after calling end/i.test(String(Object(cause).message))) {
    return error('BACKEND_ERROR', 'The database is closed')
  }
  return error(
    'BACKEND_ERROR',
    `The database failed (${name.startsWith('SQLITE_') ? name : (number ?? (name || 'unknown'))})`,
  )
}
