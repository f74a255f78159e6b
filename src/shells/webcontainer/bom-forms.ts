import { MARK_START } from '../../files/secrets/index.ts'
import type { EntryState } from '../../storage/backend.ts'
import type { ContainerEntry } from './file-tree.ts'

const BOM = [0xef, 0xbb, 0xbf] as const

/** Bytes with the mark of UTF-8 before them. */
export function withBom(bytes: Uint8Array): Uint8Array {
  const whole = new Uint8Array(BOM.length + bytes.length)
  whole.set(BOM)
  whole.set(bytes, BOM.length)
  return whole
}

/** The same without the mark of UTF-8 at its beginning. */
export function withoutBom(held: ContainerEntry): ContainerEntry {
  if (held.type !== 'file' || !BOM.every((byte, i) => held.bytes[i] === byte)) return held
  return { type: 'file', bytes: held.bytes.subarray(BOM.length) }
}

const MARK = new TextEncoder().encode(MARK_START)
const FIRST = MARK_START.charCodeAt(0)

/** Whether there may be the mark of a hidden secret in it. */
export function hasSecretMark(state: EntryState): boolean {
  if (state?.type !== 'file') return false
  const { bytes } = state
  for (let at = bytes.indexOf(FIRST); at !== -1; at = bytes.indexOf(FIRST, at + 1)) {
    if (MARK.every((byte, i) => bytes[at + i] === byte)) return true
  }
  return false
}
