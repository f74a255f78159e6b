import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsync,
  openSync,
  type Stats,
  symlinkSync,
  write,
} from 'node:fs'
import { promisify } from 'node:util'
import type { Path } from '../../paths/logical-path.ts'
import type { EntryState } from '../../storage/backend.ts'
import { errnoOf } from '../../storage/storage-error.ts'
import type { Pins } from './journal-steps.ts'
import { AT_ONCE_BYTES } from './read-content.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { writeWhole } from './state-directory.ts'

/** States with content. They are written under a temporary name first. */
export type Staged = Exclude<EntryState, null | { type: 'directory' }>

// Undefined flags of other platforms count as 0.
const FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/**
 * Writes a whole file or link under a temporary name. It gets the permission bits and the owner of `old`, the file that it
 * will replace; a new file gets 0o666 less the umask. Returns the stat of a file, undefined for a link.
 */
export async function stage(
  at: string,
  to: Staged,
  old: Stats | undefined,
  durable: boolean,
): Promise<Stats | undefined> {
  if (to.type === 'link') {
    symlinkSync(to.target, at)
    return undefined
  }
  const mode = to.mode ?? (old?.isFile() ? old.mode & 0o777 : undefined)
  // Never more permissive than the old file, not even for a moment.
  const fd = await retryOnDescriptorLimit(() => openSync(at, FLAGS, (mode ?? 0o666) & 0o777))
  try {
    if (to.bytes.length <= AT_ONCE_BYTES) writeWhole(fd, to.bytes, null)
    else await writeSlowly(fd, to.bytes)
    let stats = fstatSync(fd)
    if (mode !== undefined && adopt(fd, stats, mode & 0o777, old)) stats = fstatSync(fd)
    if (durable) await fsyncAsync(fd)
    return stats
  } finally {
    closeSync(fd)
  }
}

/** Syncs a descriptor to disk. */
export function fsyncAsync(fd: number): Promise<void> {
  return promisify(fsync)(fd)
}

/** Makes changes of names in directories durable. */
export async function syncDirectories(pins: Pins, directories: Iterable<Path>): Promise<void> {
  for (const directory of directories) {
    const { fd } = await retryOnDescriptorLimit(() => pins.get(directory))
    if (fd !== -1) await syncDirectory(fd)
  }
}

async function syncDirectory(fd: number): Promise<void> {
  try {
    await fsyncAsync(fd)
  } catch (error) {
    // Some file systems cannot sync directories.
    if (errnoOf(error) !== 'EINVAL' && errnoOf(error) !== 'EBADF') throw error
  }
}

async function writeSlowly(fd: number, bytes: Uint8Array): Promise<void> {
  let done = 0
  while (done < bytes.length) {
    const { bytesWritten } = await promisify(write)(fd, bytes, done, Math.min(4 * AT_ONCE_BYTES, bytes.length - done))
    if (bytesWritten <= 0) throw Object.assign(new Error('short write'), { code: 'ENOSPC' })
    done += bytesWritten
  }
}

/** Sets the permission bits, and the owner of the file to be replaced. Returns false if they are already right. */
export function adopt(fd: number, stats: Stats, mode: number, old: Stats | undefined): boolean {
  if (process.platform === 'win32') return false
  const isOwned = old === undefined || !old.isFile() || (stats.uid === old.uid && stats.gid === old.gid)
  if (isOwned && (stats.mode & 0o777) === mode) return false
  if (!isOwned) {
    try {
      fchownSync(fd, old.uid, old.gid)
    } catch {
      // Only root can change the owner; otherwise the new file belongs to this process.
    }
  }
  // After chown, which may clear bits.
  fchmodSync(fd, mode)
  return true
}
