import { sha1Portable } from '../files/hash/sha1.ts'
import { encodeName } from '../paths/name-bytes.ts'
import { compareBytes } from '../util/bytes.ts'
import { writeId } from './pack-index.ts'

/** A file in git's index. */
export interface StagedFile {
  readonly mode: number
  readonly id: string
  /** In bytes; 0 if unknown. */
  readonly size: number
  /** Whether the file may be missing, because it is outside of the sparse checkout. Default: decided when the index is written. */
  readonly skip?: boolean
}

/** Returns the bytes of git's index, version 2, or 3 if files are outside of a sparse checkout. Times are 0, so git reads the content of each file once. */
export function indexFile(files: ReadonlyMap<string, StagedFile>): Uint8Array {
  const names = [...files.keys()]
    .map((path) => ({ path, name: encodeName(path) }))
    .sort((a, b) => compareBytes(a.name, b.name))
  const isSkipped = (path: string) => files.get(path)?.skip === true
  let size = 12 + 20
  for (const { path, name } of names) size += entryBytes(name.length, isSkipped(path))
  const bytes = new Uint8Array(size)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, 0x44495243)
  view.setUint32(4, names.some(({ path }) => isSkipped(path)) ? 3 : 2)
  view.setUint32(8, names.length)
  let at = 12
  for (const { path, name } of names) {
    const file = files.get(path) as StagedFile
    view.setUint32(at + 24, file.mode)
    view.setUint32(at + 36, file.size % 0x1_0000_0000)
    writeId(bytes, at + 40, file.id)
    const skip = isSkipped(path)
    view.setUint16(at + 60, Math.min(name.length, 0xfff) | (skip ? 0x4000 : 0))
    if (skip) view.setUint16(at + 62, 0x4000)
    bytes.set(name, at + (skip ? 64 : 62))
    at += entryBytes(name.length, skip)
  }
  writeId(bytes, at, sha1Portable(bytes.subarray(0, at)))
  return bytes
}

/** The size of an entry: padded with 1 to 8 NUL bytes to a multiple of 8. */
function entryBytes(nameBytes: number, isExtended: boolean): number {
  return ((((isExtended ? 64 : 62) + nameBytes) >> 3) + 1) * 8
}
