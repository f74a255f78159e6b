import type { Stats } from 'node:fs'
import type { EntryType, Stat } from '../../storage/backend.ts'

/**
 * Converts the stats of Node. The tag consists of size, times and inode. It misses a change only if the kernel assigns the
 * same times twice within one tick, so caches by tag must not trust tags younger than 2 s.
 */
export function statOf(stats: Stats, modes: boolean): Stat {
  return entryStat(typeOf(stats), stats, modes)
}

/** The numbers of an entry that its stat consists of. */
export type StatNumbers = Pick<Stats, 'size' | 'mtimeMs' | 'ino' | 'ctimeMs' | 'mode'>

export function entryStat(type: EntryType, stats: StatNumbers, modes: boolean): Stat {
  return {
    type,
    size: type === 'file' ? stats.size : 0,
    ...(modes ? { mode: stats.mode & 0o777 } : undefined),
    modifiedAt: stats.mtimeMs,
    tag: tagOf(stats),
  }
}

/** The milliseconds of Node have a resolution of a quarter microsecond; the slower bigint stat is no better. */
export function tagOf(stats: StatNumbers): string {
  return `${stats.size}:${stats.mtimeMs}:${stats.ino}:${stats.ctimeMs}`
}

export function typeOf(entry: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): EntryType {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'link' : 'other'
}
