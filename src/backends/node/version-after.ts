import type { Stats } from 'node:fs'
import { sha256 } from '../../files/hash/sha256.ts'
import type { EntryState, Version } from '../../storage/backend.ts'

/** What a path is after a change; `stats` are those of the file that was staged for it. */
export function versionAfter(to: EntryState, stats: Stats | undefined, modes: boolean): Version {
  if (to === null || to.type !== 'file') return to
  const mode = modes && stats !== undefined ? { mode: stats.mode & 0o777 } : undefined
  return { type: 'file', sha256: sha256(to.bytes), size: to.bytes.length, ...mode }
}
