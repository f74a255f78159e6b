import { ToolError } from '../../errors.ts'
import { nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import type { DirectoryEntry } from '../../storage/backend.ts'
import type { StoredEntry, StoredStat } from '../../storage/plan-commit.ts'
import type { Database } from './database.ts'

/** An entry of the tree. The key of a content is a number. */
export type Entry = StoredEntry<number>

/** The tree: one row per entry, ordered by directory. */
export interface Entries {
  get(path: Path): Entry | undefined
  /** The entries of a directory, in the order of the database. */
  list(path: Path): readonly DirectoryEntry[]
  put(path: Path, entry: Entry): void
  remove(path: Path): void
  /** The next number for tags and contents. */
  counter(): number
  setCounter(next: number): void
}

const FORMAT = 1
const DIRECTORY_MODE = 0o755
const LINK_MODE = 0o777

interface State {
  readonly format: number
  readonly next: number
}

interface Row {
  readonly type: 'file' | 'directory' | 'link'
  readonly tag: number
  readonly at: number
  readonly mode: number | null
  readonly size: number | null
  readonly sha256: string | null
  readonly content: number | null
  readonly target: string | null
}

/** @throws TypeError for a database of a newer version of this library */
export function openEntries(database: Database): Entries {
  database.transaction(() => {
    database.rows(
      'CREATE TABLE IF NOT EXISTS wardspace_entries (parent TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, ' +
        'tag INTEGER NOT NULL, at NUMERIC NOT NULL, mode INTEGER, size INTEGER, sha256 TEXT, content INTEGER, ' +
        'target TEXT, PRIMARY KEY (parent, name)) WITHOUT ROWID',
    )
    database.rows(
      'CREATE TABLE IF NOT EXISTS wardspace_state (id INTEGER PRIMARY KEY CHECK (id = 0), format INTEGER, next INTEGER)',
    )
    database.rows('INSERT OR IGNORE INTO wardspace_state VALUES (0, ?, 1)', FORMAT)
    database.rows(
      "INSERT OR IGNORE INTO wardspace_entries (parent, name, type, tag, at) VALUES ('', '', 'directory', 0, 0)",
    )
  })
  // The row exists, or the transaction has thrown.
  const state = () => database.rows<State>('SELECT format, next FROM wardspace_state')[0] as State
  const { format } = state()
  if (format !== FORMAT) {
    throw new TypeError(`durableObject(): the storage has format ${format}; this version knows ${FORMAT}`)
  }

  return {
    get(path) {
      const [row] = database.rows<Row>(
        'SELECT type, tag, at, mode, size, sha256, content, target FROM wardspace_entries WHERE parent = ? AND name = ?',
        parentOf(path),
        nameOf(path),
      )
      return row && toEntry(row)
    },

    // The root is its own parent, with an empty name.
    list: (path) =>
      database.rows<DirectoryEntry>("SELECT name, type FROM wardspace_entries WHERE parent = ? AND name <> ''", path),

    put(path, entry) {
      const file = entry.type === 'file' ? entry : undefined
      database.rows(
        'INSERT OR REPLACE INTO wardspace_entries (parent, name, type, tag, at, mode, size, sha256, content, target) ' +
          'VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        parentOf(path),
        nameOf(path),
        entry.type,
        Number(entry.stat.tag),
        entry.stat.modifiedAt,
        file?.stat.mode ?? null,
        file?.stat.size ?? null,
        file?.sha256 ?? null,
        file?.content ?? null,
        entry.type === 'link' ? entry.target : null,
      )
    },

    remove(path) {
      database.rows('DELETE FROM wardspace_entries WHERE parent = ? AND name = ?', parentOf(path), nameOf(path))
    },

    counter: () => state().next,
    setCounter: (next) => void database.rows('UPDATE wardspace_state SET next = ?', next),
  }
}

function toEntry({ type, tag, at, mode, size, sha256, content, target }: Row): Entry {
  const stat = (bytes: number, bits: number): StoredStat => ({
    type,
    size: bytes,
    mode: bits,
    modifiedAt: at,
    tag: String(tag),
  })
  if (type === 'directory') return { type, stat: stat(0, DIRECTORY_MODE) }
  if (type === 'link' && target !== null) return { type, stat: stat(0, LINK_MODE), target }
  if (type === 'link' || mode === null || size === null || sha256 === null || content === null) {
    throw new ToolError('BACKEND_ERROR', `The storage of this object contains an incomplete ${type}`)
  }
  return { type, stat: stat(size, mode), sha256, content }
}
