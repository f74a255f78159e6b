import { decodeName } from '../paths/name-bytes.ts'
import { corrupt } from './corrupt-error.ts'
import { hexOf } from './pack-index.ts'

/** A file in git's index. */
export interface IndexEntry {
  readonly mode: number
  readonly id: string
  /** Bytes, modulo 2^32. */
  readonly size: number
  /** Milliseconds since 1970, computed as Node does, so that equal times are equal numbers. */
  readonly modifiedAt: number
  readonly changedAt: number
  /** Modulo 2^32. */
  readonly inode: number
  /** Whether the file may be missing: git's skip-worktree bit, which a sparse checkout sets. */
  readonly skip: boolean
}

/** The files of an index. */
export interface ParsedIndex {
  readonly entries: Map<string, IndexEntry>
  /** Paths in conflict in an unfinished merge. */
  readonly unmerged: ReadonlySet<string>
}

/**
 * Parses git's index, versions 2 to 4 (see git's `gitformat-index`). Entries that are only intended to be added are skipped.
 *
 * @throws ToolError `BACKEND_ERROR` for a damaged index, another version, or an extension that changes what the entries are
 */
export function parseIndexFile(bytes: Uint8Array): ParsedIndex {
  const entries = new Map<string, IndexEntry>()
  const unmerged = new Set<string>()
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 12 || view.getUint32(0) !== 0x44495243) throw corrupt('its index is damaged')
  const version = view.getUint32(4)
  if (version < 2 || version > 4) throw corrupt('its index has an unknown version')
  const count = view.getUint32(8)
  let at = 12
  let name: Uint8Array = new Uint8Array()
  for (let i = 0; i < count; i++) {
    const start = at
    if (start + 62 > bytes.length) throw corrupt('its index is cut short')
    const flags = view.getUint16(start + 60)
    const extended = version >= 3 && (flags & 0x4000) !== 0
    const extendedFlags = extended ? view.getUint16(start + 62) : 0
    const isIntended = (extendedFlags & 0x2000) !== 0
    at = start + (extended ? 64 : 62)
    if (version === 4) {
      let byte = bytes[at++] as number
      let strip = byte & 0x7f
      while (byte & 0x80) {
        byte = bytes[at++] as number
        strip = (strip + 1) * 128 + (byte & 0x7f)
      }
      const end = bytes.indexOf(0, at)
      if (end === -1 || !(strip <= name.length) || name.length - strip + end - at > MAX_NAME_BYTES)
        throw corrupt('its index is damaged')
      const next = new Uint8Array(name.length - strip + end - at)
      next.set(name.subarray(0, name.length - strip))
      next.set(bytes.subarray(at, end), name.length - strip)
      name = next
      at = end + 1
    } else {
      const end = bytes.indexOf(0, at)
      if (end === -1) throw corrupt('its index is damaged')
      name = bytes.subarray(at, end)
      at = start + (((end - start) >> 3) + 1) * 8
    }
    if (isIntended || name.length > MAX_NAME_BYTES) continue
    if ((flags & 0x3000) !== 0) {
      unmerged.add(decodeName(name))
      continue
    }
    entries.set(decodeName(name), {
      mode: view.getUint32(start + 24),
      id: hexOf(bytes, start + 40),
      size: view.getUint32(start + 36),
      modifiedAt: view.getUint32(start + 8) * 1000 + view.getUint32(start + 12) / 1e6,
      changedAt: view.getUint32(start) * 1000 + view.getUint32(start + 4) / 1e6,
      inode: view.getUint32(start + 20),
      skip: (extendedFlags & 0x4000) !== 0,
    })
  }
  requireKnownExtensions(view, at)
  return { entries, unmerged }
}

/** Without the extension of a split index, most of its entries would be absent. One that begins with a capital may be ignored. */
function requireKnownExtensions(view: DataView, start: number): void {
  for (let at = start; at + 8 <= view.byteLength - CHECKSUM_BYTES; at += 8 + view.getUint32(at + 4)) {
    const name = String.fromCharCode(...[0, 1, 2, 3].map((i) => view.getUint8(at + i)))
    if (name === 'link') throw corrupt('its index is split, and "git update-index --no-split-index" joins it')
    if (!/^[A-Z]/.test(name) && name !== SPARSE) throw corrupt('its index has an unknown extension')
  }
}

const CHECKSUM_BYTES = 20
/** Entries of an index may be directories. */
const SPARSE = 'sdir'

/** No workspace path is longer. In version 4, names extend one another, so longer ones could exhaust the memory. */
const MAX_NAME_BYTES = 4096
