import { MARK_START } from '../../files/secrets/index.ts'
import type { EntryState } from '../../storage/backend.ts'
import type { ContainerEntry } from './file-tree.ts'

const BOM = [0xef, 0xbb, 0xbf] as const

/** Returns the bytes with a UTF-8 byte order mark in front. */
export function withBom(bytes: Uint8Array): Uint8Array {
  const marked = new Uint8Array(BOM.length + bytes.length)
  marked.set(BOM)
  marked.set(bytes, BOM.length)
  return marked
}

/** Returns a file without its UTF-8 byte order mark. Other entries are returned unchanged. */
export function withoutBom(entry: ContainerEntry): ContainerEntry {
  if (entry.type !== 'file' || !BOM.every((byte, i) => entry.bytes[i] === byte)) return entry
  return { type: 'file', bytes: entry.bytes.subarray(BOM.length) }
}

const MARK = new TextEncoder().encode(MARK_START)
const FIRST = MARK_START.charCodeAt(0)

/** Whether a file contains the start of a secret mark. */
export function hasSecretMark(state: EntryState): boolean {
  if (state?.type !== 'file') return false
  const { bytes } = state
  for (let at = bytes.indexOf(FIRST); at !== -1; at = bytes.indexOf(FIRST, at + 1)) {
    if (MARK.every((byte, i) => bytes[at + i] === byte)) return true
  }
  return false
}
