import { isObjectWith } from '../../util/check-options.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { queueOf, type SqlDatabase, type SqlQuery } from './database.ts'
import type { SqlRow } from './schema.ts'

/** The part that is used of a connected `Client` of pg. */
export interface PostgresClient {
  /** Runs one statement with `$1` and so on for its values. */
  // biome-ignore lint/suspicious/noExplicitAny: with a narrower type, the classes of the packages would not be assignable
  query(text: string, values?: any[]): Promise<{ readonly rows: readonly any[] }>
}

/** A client of a {@link PostgresPool}. */
export interface PooledClient extends PostgresClient {
  /** Gives it back; with `true`, it is not used again. */
  release(error?: Error | boolean): void
  /** Listens to the end of the connection. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  on(event: 'error', listener: (error: any) => void): unknown
  /** Ends listening. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  off(event: 'error', listener: (error: any) => void): unknown
}

/** The part that is used of a `Pool` of pg. */
export interface PostgresPool extends PostgresClient {
  /** Returns a client that nobody else uses until it is released. */
  connect(): Promise<PooledClient>
  readonly totalCount: number
}

/** The part that is used of a `PGlite`. */
export interface PgliteDatabase extends PostgresClient {
  /** Runs an action in a transaction. */
  transaction<T>(action: (transaction: PostgresClient) => Promise<T>): Promise<T>
  readonly dataDir?: string | undefined
}

/** A database of Postgres that {@link postgres} takes. */
export type PostgresSource = PostgresPool | PostgresClient | PgliteDatabase

/**
 * Returns a database for `sqlDatabase` in Postgres: a `Pool` or a connected `Client` of pg, or a `PGlite`. A client should serve nothing
 * else: statements that the program runs on it meanwhile would be part of a commit.
 *
 * @throws TypeError for anything else
 * @example
 * ```ts
 * const backend = await sqlDatabase(postgres(await PGlite.create()))
 * ```
 */
export function postgres(source: PostgresSource): SqlDatabase {
  isObjectWith('a Pool or Client of pg, or a PGlite', 'query')(source, 'source', 'postgres()')
  if ('transaction' in source) {
    return {
      kind: 'postgres',
      query: queryOf(source),
      transaction: (action) => source.transaction((transaction) => action(queryOf(transaction))),
      isPersistent: async () => source.dataDir !== undefined && !source.dataDir.startsWith('memory:'),
    }
  }
  const isPersistent = async () => true
  if ('totalCount' in source) {
    return { kind: 'postgres', query: queryOf(source), transaction: (action) => inPool(source, action), isPersistent }
  }
  const queue = queueOf(source)
  const query = queryOf(source)
  return {
    kind: 'postgres',
    query: (text, values) => queue.next(() => query(text, values)),
    transaction: (action) => queue.next(() => inTransaction(query, action)),
    isPersistent,
  }
}

async function inPool<T>(pool: PostgresPool, action: (query: SqlQuery) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let isBroken = false
  const onBroken = () => {
    isBroken = true
  }
  // A connection that breaks emits an error, which would end the process.
  client.on('error', onBroken)
  try {
    return await inTransaction(queryOf(client), action, onBroken)
  } finally {
    client.off('error', onBroken)
    client.release(isBroken)
  }
}

/** @param onBroken called if the transaction cannot be ended, so that the connection must not be used again */
async function inTransaction<T>(
  query: SqlQuery,
  action: (query: SqlQuery) => Promise<T>,
  onBroken?: () => void,
): Promise<T> {
  await query('BEGIN', [])
  // A client takes one statement at a time.
  const queue = createSerialQueue()
  try {
    const result = await action((text, values) => queue.next(() => query(text, values)))
    await query('COMMIT', [])
    return result
  } catch (error) {
    await query('ROLLBACK', []).catch(() => onBroken?.())
    throw error
  }
}

function queryOf(source: PostgresClient): SqlQuery {
  return async (text, values) => {
    let number = 0
    const numbered = text.replace(/\?/g, () => `$${++number}`)
    return (await source.query(numbered, [...values])).rows as SqlRow[]
  }
}
