import { isObjectWith, refuseSurplus } from '../../util/check-options.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { inTransaction, queueOf, type SqlDatabase, type SqlQuery } from './database.ts'
import type { SqlRow } from './schema.ts'

/** The part that is used of a connected `Client` of pg. */
export interface PostgresClient {
  /** Runs one statement with `$1` and so on for its values. */
  query(text: string, values?: unknown[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** A client of a {@link PostgresPool}. */
export interface PooledClient extends PostgresClient {
  /** Gives it back; with `true`, it is not used again. */
  release(error?: Error | boolean): void
  /** Listens to the end of the connection. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Ends listening. */
  off(event: 'error', listener: (error: Error) => void): unknown
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
 * const backend = await sqlDatabase(postgres(await PGlite.create()))
 */
export function postgres(source: PostgresSource): SqlDatabase {
  refuseSurplus('postgres()', 1, arguments)
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
    transaction: (action) => queue.next(() => inTransactionOf(query, action)),
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
    return await inTransactionOf(queryOf(client), action, onBroken)
  } finally {
    client.off('error', onBroken)
    client.release(isBroken)
  }
}

/** Runs an action in a transaction of a client, which takes one statement at a time. */
function inTransactionOf<T>(
  query: SqlQuery,
  action: (query: SqlQuery) => Promise<T>,
  onBroken?: () => void,
): Promise<T> {
  const queue = createSerialQueue()
  const inTurn: SqlQuery = (text, values) => queue.next(() => query(text, values))
  return inTransaction(
    (text) => query(text, []),
    'BEGIN',
    () => action(inTurn),
    onBroken,
  )
}

function queryOf(source: PostgresClient): SqlQuery {
  return async (text, values) => {
    let number = 0
    const numbered = text.replace(/\?/g, () => `$${++number}`)
    return (await source.query(numbered, [...values])).rows as SqlRow[]
  }
}
