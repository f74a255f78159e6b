import type { Path } from '../../paths/logical-path.ts'
import type { DirectoryEntry } from '../../storage/backend.ts'
import { joinParts, partsWithin, splitParts } from '../../storage/content-parts.ts'
import type { StoredEntry } from '../../storage/plan-commit.ts'
import { damaged, isContentOf } from '../../storage/stored-entry.ts'
import {
  bytesOf,
  entryOf,
  FORMAT,
  namesOf,
  PART_BYTES,
  partId,
  type SqlRow,
  type Statement,
  tables,
} from '../sql/schema.ts'
import type { Database } from './database.ts'

/** An entry of the tree. The key of a content is a number. */
export type Entry = StoredEntry<number>

type FileEntry = Extract<Entry, { type: 'file' }>

/** The tree, and the contents of files, which are immutable. */
export interface Entries {
  get(path: Path): Entry | undefined
  /** The entries of a directory, in the order of the database. */
  list(path: Path): readonly DirectoryEntry[]
  put(path: Path, entry: Entry): void
  remove(path: Path): void
  /** The next number for tags and contents. */
  counter(): number
  setCounter(next: number): void
  writeContent(content: number, bytes: Uint8Array): void
  /**
   * Returns the bytes `[start, end)` of a file, which must be within its content.
   *
   * @throws ToolError `BACKEND_ERROR` if they are missing, or all of them are not the content
   */
  readContent(path: Path, file: FileEntry, start: number, end: number): Uint8Array
  removeContent(content: number): void
}

/** @throws TypeError for a database of a newer version of this library */
export function openEntries(database: Database): Entries {
  const statements = tables('wardspace', 'sqlite')
  const run = ({ text, values }: Statement) => database.rows<SqlRow>(text, ...values)
  database.transaction(() => {
    for (const text of statements.create) database.rows(text)
  })
  // The row exists, or the transaction has thrown.
  const state = () =>
    database.rows<{ format: number; next: number }>(statements.state)[0] as { format: number; next: number }
  const { format } = state()
  if (format !== FORMAT) {
    throw new TypeError(`durableObject(): the storage has format ${format}; this version knows ${FORMAT}`)
  }

  return {
    get(path) {
      const [row] = run(statements.entriesAt([path]))
      return row && entryOf(row)
    },

    list: (path) => namesOf(run(statements.namesIn(path))),
    put: (path, entry) => void run(statements.put([[path, entry]])),
    remove: (path) => void run(statements.remove([path])),
    counter: () => state().next,
    setCounter: (next) => void run(statements.setNext(next)),

    writeContent(content, bytes) {
      for (const [part, piece] of splitParts(bytes, PART_BYTES).entries()) {
        run(statements.putParts([[partId(content, part), piece]]))
      }
    },

    readContent(path, file, start, end) {
      const { content, stat } = file
      const { first, count } = partsWithin(PART_BYTES, start, end)
      const parts = Array.from({ length: count }, (_, index) =>
        bytesOf(run(statements.partsAt([partId(content, first + index)]))[0]?.bytes),
      )
      const bytes = joinParts(parts, PART_BYTES, start, end)
      const isDamaged = bytes === undefined || (end - start === stat.size && !isContentOf(file, bytes))
      if (isDamaged) throw damaged(path)
      return bytes
    },

    removeContent: (content) => void run(statements.removeContent(content)),
  }
}
