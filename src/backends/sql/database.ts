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
