import type { Stats } from 'node:fs'
import { sha256Async } from '../../files/hash/sha256.ts'
import type { EntryState, Version } from '../../storage/backend.ts'
import { sizeOf } from '../../storage/versions.ts'

/** Returns the version of a path after a change. `stats` are those of its staged file. */
export async function versionAfter(to: EntryState, stats: Stats | undefined, modes: boolean): Promise<Version> {
  if (to === null || to.type !== 'file') return to
  const mode = modes && stats !== undefined ? { mode: stats.mode & 0o777 } : undefined
  return { type: 'file', sha256: to.content?.sha256 ?? (await sha256Async(to.bytes)), size: sizeOf(to), ...mode }
}
