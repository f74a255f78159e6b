import { sha256 } from '../files/hash/sha256.ts'
import type { Path } from '../paths/logical-path.ts'
import { sameBytes } from '../util/bytes.ts'
import type { Backend, EntryState, Version } from './backend.ts'

/** The reads of a backend that {@link stateAt} needs. */
export type StateReads = Pick<Backend, 'stat' | 'read' | 'readLink'>

/** Bytes read of a file that is larger than `maxBytes`. */
const HEAD_BYTES = 64 * 1024

/** Returns the state of a path, with all bytes and the permission bits of a file. `other` entries count as absent. */
export async function stateAt(reads: StateReads, path: Path): Promise<EntryState> {
  return (await stateWithin(reads, path, Number.POSITIVE_INFINITY)).state
}

/** Like {@link stateAt}, but of a file larger than `maxBytes` only the first 64 KiB; `headOf` is then its size. */
export async function stateWithin(
  reads: StateReads,
  path: Path,
  maxBytes: number,
): Promise<{ readonly state: EntryState; readonly headOf?: number }> {
  const stat = await reads.stat(path)
  if (stat === undefined || stat.type === 'other') return { state: null }
  if (stat.type === 'directory') return { state: { type: 'directory' } }
  if (stat.type === 'link') return { state: { type: 'link', target: await reads.readLink(path) } }
  const isLarge = stat.size > maxBytes
  const read = await reads.read(path, isLarge ? { start: 0, end: HEAD_BYTES } : undefined)
  const { mode } = read.stat
  const state: EntryState = { type: 'file', bytes: read.bytes, ...(mode === undefined ? {} : { mode }) }
  return isLarge ? { state, headOf: stat.size } : { state }
}

/** Returns the version at a path. Reads and hashes a file as a whole. */
export async function versionAt(reads: StateReads, path: Path): Promise<Version> {
  return versionOf(await stateAt(reads, path))
}

/** Returns the version of a state. */
export function versionOf(state: EntryState, hash: (bytes: Uint8Array) => string = sha256): Version {
  if (state?.type !== 'file') return state
  const { bytes, mode } = state
  return { type: 'file', sha256: hash(bytes), size: bytes.length, ...(mode === undefined ? {} : { mode }) }
}

/** Compares two versions. Permission bits count where both versions have them. */
export function sameVersion(a: Version, b: Version): boolean {
  if (a === null || b === null) return a === b
  if (a.type === 'file' && b.type === 'file') {
    return a.sha256 === b.sha256 && (a.mode === undefined || b.mode === undefined || a.mode === b.mode)
  }
  if (a.type === 'link' && b.type === 'link') return a.target === b.target
  return a.type === b.type
}

/** Compares two states. With `modes`, the permission bits of files count where both states have them. */
export function sameState(a: EntryState, b: EntryState, { modes }: { readonly modes: boolean }): boolean {
  if (a?.type === 'file' && b?.type === 'file') {
    if (modes && a.mode !== undefined && b.mode !== undefined && a.mode !== b.mode) return false
    return sameBytes(a.bytes, b.bytes)
  }
  if (a?.type === 'link' && b?.type === 'link') return a.target === b.target
  return a?.type === b?.type
}
