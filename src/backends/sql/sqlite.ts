import { ToolError } from '../../errors.ts'
import { isObjectWith, refuseSurplus } from '../../util/check-options.ts'
import { pauseWithJitter } from '../../util/timers.ts'
import { failureOf, inTransaction, isLocked, queueOf, type SqlDatabase, type SqlQuery } from './database.ts'
import type { SqlRow, SqlValue } from './schema.ts'

/** The part that is used of a `DatabaseSync` of `node:sqlite`, and of a `Database` of better-sqlite3 or libsql. */
export interface SqliteConnection {
  /** Runs a statement without values and rows. */
  exec(text: string): unknown
  /** Prepares a statement with `?` for its values. */
  prepare(text: string): SqliteStatement
}

/** The part that is used of a prepared statement. */
export interface SqliteStatement {
  /** Of better-sqlite3: whether the statement returns rows. */
  readonly reader?: boolean
  /** Returns all rows. */
  all(...values: unknown[]): unknown
  /** Runs a statement that returns no rows. */
  run(...values: unknown[]): unknown
}

/** The part that is used of a client of `@libsql/client`, of a file or of a server (Turso). */
export interface LibsqlClient extends LibsqlQueries {
  readonly protocol: string
  /** Begins a transaction that excludes others. */
  transaction(mode: 'write'): Promise<LibsqlTransaction>
}

/** What runs statements: a client, or a transaction of one. */
export interface LibsqlQueries {
  /** Runs one statement with `?` for its values. */
  execute(statement: { sql: string; args: SqlValue[] }): Promise<{ readonly rows: readonly unknown[] }>
}

/** The part that is used of a transaction of a {@link LibsqlClient}. */
export interface LibsqlTransaction extends LibsqlQueries {
  /** Applies all of it. */
  commit(): Promise<void>
  /** Rolls back what is not committed. */
  close(): void
}

/** The part that is used of an `oo1.DB` of `@sqlite.org/sqlite-wasm`. */
export interface SqliteWasm {
  /** With `rowMode` and `returnValue`, returns the rows as objects. */
  exec(options: unknown): unknown
  /** Returns the name of the file system that has the database. */
  dbVfsName(): string | undefined
}

/** A database of SQLite that {@link sqlite} takes. */
export type SqliteSource = SqliteConnection | LibsqlClient | SqliteWasm

/**
 * Returns a database for `sqlDatabase` in SQLite: a `DatabaseSync` of `node:sqlite`, a `Database` of better-sqlite3 or libsql, a
 * client of `@libsql/client`, or an `oo1.DB` of `@sqlite.org/sqlite-wasm`. Give a connection of its own: statements that the
 * program runs on it meanwhile would be part of a commit. A commit waits up to ten seconds for other processes; that of a file
 * with `@libsql/client` as long as the option `timeout` of the client says, and one process should have one client of a file.
 *
 * @throws TypeError for anything else
 * @example
 * const backend = await sqlDatabase(sqlite(new DatabaseSync('workspace.db')))
 */
export function sqlite(source: SqliteSource): SqlDatabase {
  refuseSurplus('sqlite()', 1, arguments)
  isObjectWith(
    'a database of node:sqlite, better-sqlite3, libsql, @libsql/client or @sqlite.org/sqlite-wasm',
    ...('execute' in Object(source) ? ['execute', 'transaction'] : ['exec']),
  )(source, 'source', 'sqlite()')
  if ('execute' in source) return ofClient(source)
  if ('dbVfsName' in source) return ofConnection(source, wasmQuery(source), async () => isStoredByPage(source))
  isObjectWith('a connection with prepare()', 'prepare')(source, 'source', 'sqlite()')
  const query = connectionQuery(source)
  return ofConnection(source, query, () => hasFile(query))
}

/** One connection: what it runs between the begin and the end of a transaction belongs to it. */
function ofConnection(
  source: SqliteConnection | SqliteWasm,
  query: SqlQuery,
  isPersistent: () => Promise<boolean>,
): SqlDatabase {
  const queue = queueOf(source)
  // Not as a prepared statement: in libsql, one that finds the database locked stays in progress and prevents every commit.
  const exec = async (text: string) => void source.exec(text)
  return {
    kind: 'sqlite',
    query: (text, values) => queue.next(() => query(text, values)),
    isPersistent: () => queue.next(isPersistent),
    transaction: (action) =>
      queue.next(() =>
        inTransaction(
          (text) => whenFree(() => exec(text)),
          'BEGIN IMMEDIATE',
          () => action(query),
        ),
      ),
  }
}

function ofClient(client: LibsqlClient): SqlDatabase {
  const queryOf =
    (target: LibsqlQueries): SqlQuery =>
    async (sql, args) =>
      (await target.execute({ sql, args: [...args] })).rows as SqlRow[]
  const query = queryOf(client)
  const isFile = client.protocol === 'file'
  const queue = queueOf(client)
  // The readers of a file would keep a transaction of the same process waiting.
  const inTurn = <T>(action: () => Promise<T>): Promise<T> => (isFile ? queue.next(action) : action())
  return {
    kind: 'sqlite',
    query: (text, values) => inTurn(() => whenFree(() => query(text, values))),
    isPersistent: async () => !isFile || hasFile(query),
    transaction: (action) =>
      queue.next(async () => {
        const transaction = await whenFree(() => client.transaction('write'))
        try {
          const result = await action(queryOf(transaction))
          await transaction.commit()
          return result
        } finally {
          // Rolls back what is not committed.
          transaction.close()
        }
      }),
  }
}

function connectionQuery(connection: SqliteConnection): SqlQuery {
  return async (text, values) => {
    const statement = connection.prepare(text)
    return whenFree(async () => {
      if (statement.reader !== false) return statement.all(...values) as SqlRow[]
      statement.run(...values)
      return []
    })
  }
}

function wasmQuery(database: SqliteWasm): SqlQuery {
  return async (sql, values) => {
    const bind = values.length === 0 ? {} : { bind: [...values] }
    return whenFree(
      async () => database.exec({ sql, ...bind, rowMode: 'object', returnValue: 'resultRows' }) as SqlRow[],
    )
  }
}

async function hasFile(query: SqlQuery): Promise<boolean> {
  const [main] = await query('PRAGMA database_list', [])
  return typeof main?.file === 'string' && main.file !== ''
}

/** The other file systems of SQLite in a page are in memory. */
function isStoredByPage(database: SqliteWasm): boolean {
  return /^(opfs|kvvfs)/.test(database.dbVfsName() ?? '')
}

/** Longest time that a statement waits for another process, in milliseconds. */
const MAX_WAIT_MS = 10_000

/** Runs a statement again while the database is locked by another process. */
async function whenFree<T>(run: () => Promise<T>): Promise<T> {
  const end = Date.now() + MAX_WAIT_MS
  for (let tries = 0; ; tries++) {
    try {
      return await run()
    } catch (error) {
      if (!isLocked(failureOf(error))) throw error
      if (Date.now() > end) throw new ToolError('BACKEND_ERROR', 'The database is locked by another process')
      await pauseWithJitter(Math.min(100, 2 ** tries))
    }
  }
}
