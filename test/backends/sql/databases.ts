import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { createClient } from '@libsql/client'
import sqlite3 from '@sqlite.org/sqlite-wasm'
import Database from 'libsql'
import {
  postgres,
  type SqlDatabase,
  type SqliteConnection,
  sqlDatabase,
  sqlite,
} from '../../../src/backends/sql/index.ts'
import type { BackendSubject } from '../../../src/testing/index.ts'

/** Node has `node:sqlite` from version 22.13. */
const builtin = (() => {
  try {
    const { DatabaseSync } = createRequire(import.meta.url)('node:sqlite') as {
      DatabaseSync: new (path: string) => SqliteConnection & { close(): void }
    }
    return DatabaseSync
  } catch {
    return undefined
  }
})()

let pglite: Promise<PGlite> | undefined

/** An open database, and how it is closed. */
export interface OpenDatabase {
  readonly database: SqlDatabase
  readonly close: () => unknown
}

/** Opens a second connection to a database, where there can be one. */
type Connect = (home: string) => OpenDatabase | Promise<OpenDatabase>

/** The databases that npm brings. Some can be opened more than once in one process. */
export const databases: Readonly<Record<string, { readonly manyConnections: boolean; readonly open: Connect }>> = {
  'libsql, with the interface of better-sqlite3': {
    manyConnections: true,
    open: (home) => connection(new Database(join(home, 'libsql.db'))),
  },
  '@libsql/client': {
    manyConnections: false,
    open: (home) => {
      const client = createClient({ url: `file:${join(home, 'client.db')}` })
      return { database: sqlite(client), close: () => client.close() }
    },
  },
  ...(builtin && {
    'node:sqlite': { manyConnections: true, open: (home: string) => connection(new builtin(join(home, 'node.db'))) },
  }),
  'SQLite in WebAssembly': {
    manyConnections: false,
    open: async () => {
      const database = new (await sqlite3()).oo1.DB(':memory:')
      return { database: sqlite(database), close: () => database.close() }
    },
  },
  PGlite: {
    manyConnections: false,
    // It takes seconds to start, and ends with the process.
    open: async () => {
      pglite ??= PGlite.create()
      return { database: postgres(await pglite), close: () => undefined }
    },
  },
}

function connection(database: SqliteConnection & { close(): unknown }): OpenDatabase {
  return { database: sqlite(database), close: () => database.close() }
}

let count = 0

/** Creates subjects of the contract in one database, each in tables of its own. */
export function subjectsIn(open: Connect): { create(): Promise<BackendSubject>; dispose(): Promise<void> } {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-sql-'))
  let opened: Promise<OpenDatabase> | undefined
  return {
    async create() {
      opened ??= Promise.resolve(open(home))
      const { database } = await opened
      const prefix = `case_${count++}`
      return {
        backend: await sqlDatabase(database, { prefix }),
        physical: prefix,
        reopen: () => sqlDatabase(database, { prefix }),
        async plantLink(path, target) {
          const slash = path.lastIndexOf('/')
          await database.query(
            `INSERT INTO ${prefix}_entries (parent, name, type, tag, at, target) VALUES (?, ?, 'link', 0, 0, ?)`,
            [path.slice(0, Math.max(0, slash)), path.slice(slash + 1), target],
          )
        },
      }
    },
    async dispose() {
      await (await opened)?.close()
      rmSync(home, { recursive: true, force: true })
    },
  }
}
