import { ToolError } from '../../errors.ts'
import type { Database } from './database.ts'

/** SQLite on the platform refuses rows over 2 MB; smaller parts make a range of a large file cheap to read. */
export const PART_BYTES = 256 * 1024

/** Parts that one content may have: far more than the 10 GB that an object may hold. */
const PARTS_PER_CONTENT = 2 ** 16

/** The bytes of files, each content under a number of its own and cut into parts. Contents never change. */
export interface Contents {
  write(content: number, bytes: Uint8Array): void
  /** The bytes `[start, end)`, which must lie within the content. Throws where they are not there. */
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
      // One row at a time, so that no second copy of a large file is held.
      for (let part = first; part <= last; part++) {
        const [row] = database.rows<{ bytes: ArrayBuffer }>(
          'SELECT bytes FROM wardspace_parts WHERE id = ?',
          idOf(content, part),
        )
        const from = part * PART_BYTES
        if (row === undefined || row.bytes.byteLength < Math.min(end - from, PART_BYTES)) {
          throw new ToolError('BACKEND_ERROR', 'The storage of this object holds a file that is not whole')
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
