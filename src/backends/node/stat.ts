import type { Stats } from 'node:fs'
import type { EntryType, Stat } from '../../storage/backend.ts'

/**
 * A backend's stat of node's. The tag holds size, times and inode: a change shows in it unless the kernel gives the same
 * times twice within one tick, which is why whoever keeps content by its tag must not trust one that is younger than 2 s.
 */
export function statOf(stats: Stats, modes: boolean): Stat {
  const type = typeOf(stats)
  return {
    type,
    size: type === 'file' ? stats.size : 0,
    ...(modes ? { mode: stats.mode & 0o777 } : undefined),
    modifiedAt: stats.mtimeMs,
    tag: tagOf(stats),
  }
}

/** The milliseconds of node's stat keep a quarter of a microsecond, so that the slower bigint stat gives no more. */
export function tagOf(stats: Stats): string {
  return `${stats.size}:${stats.mtimeMs}:${stats.ino}:${stats.ctimeMs}`
}

export function typeOf(entry: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): EntryType {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}
