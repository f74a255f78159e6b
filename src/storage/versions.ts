import { sha256 } from '../files/hash/sha256.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Backend, EntryState, Version } from './backend.ts'

type Reads = Pick<Backend, 'stat' | 'read' | 'readLink'>

/** What stands at a path, with all its bytes and permission bits. What is none of file, directory and link counts as nothing. */
export async function stateAt(backend: Reads, path: Path): Promise<EntryState> {
  const stat = await backend.stat(path)
  if (stat === undefined || stat.type === 'other') return null
  if (stat.type === 'directory') return { type: 'directory' }
  if (stat.type === 'link') return { type: 'link', target: await backend.readLink(path) }
  const read = await backend.read(path)
  const { mode } = read.stat
  return { type: 'file', bytes: read.bytes, ...(mode === undefined ? {} : { mode }) }
}

/** The version of what stands at a path. Reads and hashes the whole of a file. */
export async function versionAt(backend: Reads, path: Path): Promise<Version> {
  return versionOf(await stateAt(backend, path))
}

/** The version of a state. */
export function versionOf(state: EntryState): Version {
  if (state?.type !== 'file') return state
  const { bytes, mode } = state
  return { type: 'file', sha256: sha256(bytes), size: bytes.length, ...(mode === undefined ? {} : { mode }) }
}

/** Whether two versions are one: the same bytes with the same permission bits, where both tell them. */
export function sameVersion(a: Version, b: Version): boolean {
  if (a === null || b === null) return a === b
  if (a.type === 'file' && b.type === 'file') {
    return a.sha256 === b.sha256 && (a.mode === undefined || b.mode === undefined || a.mode === b.mode)
  }
  if (a.type === 'link' && b.type === 'link') return a.target === b.target
  return a.type === b.type
}
