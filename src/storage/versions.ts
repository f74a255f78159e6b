import { sha256 } from '../files/hash/sha256.ts'
import type { Path } from '../paths/logical-path.ts'
import { sameBytes } from '../util/bytes.ts'
import {
  checkArgument,
  checkOptions,
  isBoolean,
  isFunction,
  isObjectWith,
  must,
  requireText,
} from '../util/check-options.ts'
import type { Backend, EntryState, Version } from './backend.ts'
import { lostContentOf } from './lost-content.ts'

/** The reads of a backend that {@link stateAt} needs. */
export type StateReads = Pick<Backend, 'stat' | 'read' | 'readLink'>

/** Bytes of the beginning of a file whose content is not in memory. */
export const HEAD_BYTES = 64 * 1024

/** Returns the state of a path, with all bytes and the permission bits of a file. `other` entries count as absent. */
export async function stateAt(reads: StateReads, path: Path): Promise<EntryState> {
  requireText('stateAt()', 'path', path)
  checkArgument('stateAt()', 'reads', reads, isStateReads)
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

/**
 * Like {@link stateWithin}, for a state that is replaced: of a file whose content the storage has lost, only size and hash are
 * known. The state then has them as `content`, and no bytes.
 */
export async function priorStateWithin(
  reads: StateReads,
  path: Path,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<{ readonly state: EntryState; readonly headOf?: number }> {
  try {
    return await stateWithin(reads, path, maxBytes)
  } catch (error) {
    const content = lostContentOf(error)
    if (content === undefined) throw error
    const mode = (await reads.stat(path))?.mode
    return { state: { type: 'file', bytes: new Uint8Array(), content, ...(mode === undefined ? {} : { mode }) } }
  }
}

/** Whether the content of a replaced state is lost, so that nothing can restore it. */
export function isLost(state: EntryState): boolean {
  return state?.type === 'file' && state.content !== undefined && state.bytes.length === 0
}

const isStateReads = isObjectWith('a backend, or an object with its reads', 'stat', 'read', 'readLink')
const isStateOrNull = must(
  'a state or version of an entry, or null',
  (state) => state === null || typeof (state as Partial<NonNullable<EntryState>> | undefined)?.type === 'string',
)

/** Bytes of a file that is hashed as a whole. */
const HASHED_BYTES = 4 * 1024 * 1024

/** Returns the version at a path. Hashes a large file part by part. @throws ToolError `WRITE_CONFLICT` if it changes */
export async function versionAt(reads: StateReads, path: Path): Promise<Version> {
  requireText('versionAt()', 'path', path)
  checkArgument('versionAt()', 'reads', reads, isStateReads)
  const stat = await reads.stat(path)
  if (stat?.type !== 'file' || stat.size <= HASHED_BYTES) {
    return versionOf((await priorStateWithin(reads, path)).state)
  }
  const { hashParts } = await import('./read-parts.ts')
  const { size, mode } = stat
  const sha256 = await hashParts(reads, path, stat).catch((error: unknown) => {
    const lost = lostContentOf(error)
    if (lost === undefined) throw error
    return lost.sha256
  })
  return { type: 'file', sha256, size, ...(mode === undefined ? {} : { mode }) }
}

/** Returns the bytes of the content of a file. */
export function sizeOf({ bytes, content }: FileState): number {
  return content?.size ?? bytes.length
}

/** The state of a file. */
export type FileState = Extract<EntryState, { readonly type: 'file' }>

/** Returns the version of a state. */
export function versionOf(state: EntryState, hash: (bytes: Uint8Array) => string = sha256): Version {
  checkArgument('versionOf()', 'state', state, isStateOrNull)
  checkArgument('versionOf()', 'hash', hash, isFunction)
  if (state?.type !== 'file') return state
  const { bytes, content, mode } = state
  const version = { sha256: content?.sha256 ?? hash(bytes), size: sizeOf(state) }
  return { type: 'file', ...version, ...(mode === undefined ? {} : { mode }) }
}

/** Compares two versions. Permission bits count where both versions have them. */
export function sameVersion(a: Version, b: Version): boolean {
  checkArgument('sameVersion()', 'a', a, isStateOrNull)
  checkArgument('sameVersion()', 'b', b, isStateOrNull)
  if (a === null || b === null) return a === b
  if (a.type === 'file' && b.type === 'file') {
    return a.sha256 === b.sha256 && (a.mode === undefined || b.mode === undefined || a.mode === b.mode)
  }
  if (a.type === 'link' && b.type === 'link') return a.target === b.target
  return a.type === b.type
}

/** Compares two states. With `modes`, the permission bits of files count where both states have them. */
export function sameState(a: EntryState, b: EntryState, options: { readonly modes: boolean }): boolean {
  checkArgument('sameState()', 'a', a, isStateOrNull)
  checkArgument('sameState()', 'b', b, isStateOrNull)
  const { modes } = checkOptions<{ readonly modes: boolean }>('sameState()', options, { modes: isBoolean }, 'modes')
  if (a?.type === 'file' && b?.type === 'file') {
    if (modes && a.mode !== undefined && b.mode !== undefined && a.mode !== b.mode) return false
    if (a.content === undefined && b.content === undefined) return sameBytes(a.bytes, b.bytes)
    return sizeOf(a) === sizeOf(b) && sameVersion(versionOf(a), versionOf(b))
  }
  if (a?.type === 'link' && b?.type === 'link') return a.target === b.target
  return a?.type === b?.type
}
