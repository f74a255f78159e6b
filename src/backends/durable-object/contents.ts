import { ToolError } from '../../errors.ts'
import type { Database } from './database.ts'

/** The platform's SQLite refuses rows over 2 MB. Smaller parts make it cheap to read a range of a large file. */
export const PART_BYTES = 256 * 1024

/** Maximum parts of one content: far more than the 10 GB that an object can store. */
const PARTS_PER_CONTENT = 2 ** 16

/** The bytes of files. Each content has a number and is stored in parts. Contents are immutable. */
export interface Contents {
  write(content: number, bytes: Uint8Array): void
  /** The bytes `[start, end)`, which must be within the content. Throws if they are missing. */
  read(content: number, start: number, end: number): Uint8Array
  remove(content: number): void
}

export function openContents(database: Database): Contents {
  database.rows('CREATE TABLE IF NOT EXISTS wardspace_parts (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)')
  const idOf = (content: number, part: number) => content * PARTS_PER_CONTENT + part

  return {
    write(content, bytes) {
      for (let part = 0; part * PART_BYTES < bytes.length; part++) {
        const piece = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)
        database.rows('INSERT INTO wardspace_parts (id, bytes) VALUES (?, ?)', idOf(content, part), piece)
      }
    },

    read(content, start, end) {
      if (start >= end) return new Uint8Array(0)
      const first = Math.floor(start / PART_BYTES)
      const last = Math.ceil(end / PART_BYTES) - 1
      const bytes = new Uint8Array(end - start)
      // One row at a time, so that memory does not hold a second copy of a large file.
      for (let part = first; part <= last; part++) {
        const [row] = database.rows<{ bytes: ArrayBuffer }>(
          'SELECT bytes FROM wardspace_parts WHERE id = ?',
          idOf(content, part),
        )
        const from = part * PART_BYTES
        if (row === undefined || row.bytes.byteLength < Math.min(end - from, PART_BYTES)) {
          throw new ToolError('BACKEND_ERROR', 'The storage of this object contains an incomplete file')
        }
        const piece = new Uint8Array(row.bytes)
        if (part === first && part === last) return piece.subarray(start - from, end - from)
        bytes.set(piece.subarray(Math.max(0, start - from), Math.max(0, end - from)), Math.max(0, from - start))
      }
      return bytes
    },

    remove(content) {
      database.rows('DELETE FROM wardspace_parts WHERE id >= ? AND id < ?', idOf(content, 0), idOf(content + 1, 0))
    },
  }
}
