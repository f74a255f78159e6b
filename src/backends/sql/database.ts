import { createSerialQueue, type SerialQueue } from '../../util/serial-queue.ts'
import type { SqlKind, SqlRow, SqlValue } from './schema.ts'

/** Runs one statement, and returns its rows. Values stand for the `?` of the text, in order. */
export type SqlQuery = (text: string, values: readonly SqlValue[]) => Promise<readonly SqlRow[]>

/** A database for `sqlDatabase`. Built in are `sqlite(…)` and `postgres(…)`. Every thrown error counts as a failure of it. */
export interface SqlDatabase {
  readonly kind: SqlKind
  /** Runs one statement outside of transactions. It does not see what an unfinished transaction has written. */
  readonly query: SqlQuery
  /**
   * Runs the action in a transaction, which is applied as a whole when the action has ended, or not at all if it throws. In
   * SQLite no other transaction that writes runs at the same time.
   */
  transaction<T>(action: (query: SqlQuery) => Promise<T>): Promise<T>
  /** Returns whether commits survive the end of the process. */
  isPersistent(): Promise<boolean>
}

const queues = new WeakMap<object, SerialQueue>()

/** Returns the queue of a connection, so that two databases over one connection do not mix their transactions. */
export function queueOf(connection: object): SerialQueue {
  const queue = queues.get(connection) ?? createSerialQueue()
  queues.set(connection, queue)
  return queue
}

/**
 * Runs an action in a transaction of one connection.
 *
 * @param onBroken called if the transaction cannot be ended, so that the connection must not be used again
 */
export async function inTransaction<T>(
  run: (text: string) => Promise<unknown>,
  begin: string,
  action: () => Promise<T>,
  onBroken?: () => void,
): Promise<T> {
  await run(begin)
  try {
    const result = await action()
    await run('COMMIT')
    return result
  } catch (error) {
    // A failed statement of SQLite may have ended the transaction already.
    await run('ROLLBACK').catch(() => onBroken?.())
    throw error
  }
}

/** The code of a failure: a name such as `SQLITE_BUSY` or `53100`, or that of SQLite as a number, and its primary code. */
export interface SqlFailure {
  readonly name: string
  readonly number: number | undefined
  readonly primary: number | undefined
}

/** Returns the code of a failure, which each driver has in a field of another name. */
export function failureOf(error: unknown): SqlFailure {
  const { code, errcode, resultCode, rawCode } = Object(error) as Record<string, unknown>
  const number = [errcode, resultCode, rawCode].find((value): value is number => typeof value === 'number')
  const name = typeof code === 'string' && /^[A-Z0-9_]{3,40}$/.test(code) ? code : ''
  return { name, number, primary: number === undefined ? undefined : number & 0xff }
}

/** Whether another connection has locked the database. */
export function isLocked({ name, primary }: SqlFailure): boolean {
  return /^(?:SQLITE_(?:BUSY|LOCKED)|55P03$)/.test(name) || primary === 5 || primary === 6
}
