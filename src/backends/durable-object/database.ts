import { ToolError } from '../../errors.ts'

/** A value as SQLite keeps it. */
export type SqlValue = ArrayBuffer | string | number | null

/** What a statement answers. */
export interface SqlRows {
  /** All rows, by the names of their columns. */
  toArray(): Record<string, SqlValue>[]
}

/** What is used of a Durable Object's `ctx.storage`: its SQLite database. */
export interface DurableStorage {
  readonly sql: {
    /** Runs a statement. Synchronous; throws what SQLite says. */
    // biome-ignore lint/suspicious/noExplicitAny: the platform's own type takes anything that SQLite can bind.
    exec(query: string, ...bindings: any[]): SqlRows
  }
  /** Everything that the closure does is kept, or, where it throws, nothing. */
  transactionSync<T>(closure: () => T): T
}

/** The database: synchronous, and throws nothing but `ToolError`. */
export interface Database {
  rows<Row>(query: string, ...bindings: readonly unknown[]): readonly Row[]
  /** Everything in it is done, or nothing is. What it throws comes out as it is. */
  transaction<T>(action: () => T): T
}

export function openDatabase(storage: DurableStorage): Database {
  return {
    rows: <Row>(query: string, ...bindings: readonly unknown[]) => {
      try {
        return storage.sql.exec(query, ...bindings).toArray() as Row[]
      } catch (error) {
        throw fromSql(error)
      }
    },
    transaction: (action) => {
      try {
        return storage.transactionSync(action)
      } catch (error) {
        throw error instanceof ToolError ? error : fromSql(error)
      }
    },
  }
}

/** SQLite's own messages may hold what was bound, so that only their kind is told. */
function fromSql(error: unknown): ToolError {
  const text = error instanceof Error ? error.message : ''
  if (/SQLITE_FULL|disk is full|exceeded.*(storage|limit)/i.test(text)) {
    return new ToolError('NO_SPACE', 'Cannot write: the storage of this object is full')
  }
  const kind = /SQLITE_[A-Z_]+/.exec(text)?.[0] ?? 'unknown'
  return new ToolError('BACKEND_ERROR', `The storage of this object failed (${kind})`)
}
