import { ToolError } from '../../errors.ts'

/** A value that SQLite stores. */
export type SqlValue = ArrayBuffer | string | number | null

/** The result of a statement. */
export interface SqlRows {
  /** All rows, by the names of their columns. */
  toArray(): Record<string, SqlValue>[]
}

/** The part of a Durable Object's `ctx.storage` that is used: its SQLite database. */
export interface DurableStorage {
  readonly sql: {
    /** Runs a statement synchronously. Throws the errors of SQLite. */
    // biome-ignore lint/suspicious/noExplicitAny: with a narrower type, the platform's own `SqlStorage` would not be assignable
    exec(query: string, ...bindings: any[]): SqlRows
  }
  /** Commits everything that the closure does, or nothing if it throws. */
  transactionSync<T>(closure: () => T): T
}

/** The database: synchronous; throws only `ToolError`. */
export interface Database {
  rows<Row>(query: string, ...bindings: readonly unknown[]): readonly Row[]
  /** Applies everything or nothing. Rethrows the `ToolError` of the action. */
  transaction<T>(action: () => T): T
}

export function openDatabase(storage: DurableStorage): Database {
  return {
    rows: <Row>(query: string, ...bindings: readonly unknown[]) => {
      try {
        return storage.sql.exec(query, ...bindings).toArray() as Row[]
      } catch (error) {
        throw storageError(error)
      }
    },
    transaction: (action) => {
      try {
        return storage.transactionSync(action)
      } catch (error) {
        throw error instanceof ToolError ? error : storageError(error)
      }
    },
  }
}

/** Reports only the error code, because messages of SQLite may contain bound values. */
function storageError(error: unknown): ToolError {
  const text = error instanceof Error ? error.message : ''
  if (/SQLITE_FULL|disk is full|exceeded.*(storage|limit)/i.test(text)) {
    return new ToolError('NO_SPACE', 'Cannot write: the storage of this object is full')
  }
  const kind = /SQLITE_[A-Z_]+/.exec(text)?.[0] ?? 'unknown'
  return new ToolError('BACKEND_ERROR', `The storage of this object failed (${kind})`)
}
