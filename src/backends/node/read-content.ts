import { createHash } from 'node:crypto'
import { closeSync, fstatSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import { ToolError } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { display, type Path, quote } from '../../paths/logical-path.ts'
import type { FileRead } from '../../storage/backend.ts'
import { statOf, tagOf } from './stat.ts'
import type { EntryHandle, TreeAccess } from './tree-access.ts'

/** Files up to this size are read synchronously: the thread pool would cost more than the read. */
export const AT_ONCE_BYTES = 1024 * 1024

/** Maximum bytes per read. Larger arrays do not exist on every platform; larger files can be read in ranges. */
const MAX_BYTES = 1024 * 1024 * 1024

/** Maximum number of attempts to read a file that changes during the read. */
const ATTEMPTS = 3

export interface Range {
  readonly start: number
  readonly end: number
  readonly tag?: string
}

/** Reads a file or a range of it, with the matching stat. Throws ToolErrors and system errors. */
export async function readContent(
  access: TreeAccess,
  path: Path,
  range: Range | undefined,
  modes: boolean,
): Promise<FileRead> {
  return withFile(access, 'read', path, async (fd) => {
    for (let attempt = 1; ; attempt++) {
      const before = fstatSync(fd)
      await requireTag(fd, path, range?.tag, before)
      const start = Math.min(Math.max(0, range?.start ?? 0), before.size)
      const end = Math.max(start, Math.min(range?.end ?? before.size, before.size))
      if (end - start > MAX_BYTES) throw tooLarge(path, end - start)
      const bytes = new Uint8Array(end - start)
      let count: number
      if (bytes.length <= AT_ONCE_BYTES) count = fill(fd, bytes, start)
      else count = await fillSlowly(fd, bytes, start)
      const after = fstatSync(fd)
      const isSteady = count === bytes.length && tagOf(before) === tagOf(after)
      if (isSteady) return { bytes, stat: statOf(after, modes) }
      if (attempt < ATTEMPTS) continue
      // Another process writes to it all the time: these bytes are not a version that can be expected later.
      const stat = statOf(after, modes)
      return { bytes: bytes.subarray(0, count), stat: { ...stat, tag: `${stat.tag}~${performance.now()}` } }
    }
  })
}

/** Hashes an opened entry in pieces, and returns the matching stat. */
export async function hashContent(path: Path, entry: EntryHandle): Promise<{ sha256: string; stats: Stats }> {
  const fd = openEntry('read', path, entry)
  try {
    for (let attempt = 1; ; attempt++) {
      const before = fstatSync(fd)
      let sum: string
      if (before.size <= AT_ONCE_BYTES) sum = hashAtOnce(fd, before.size)
      else sum = await hashSlowly(fd, before.size)
      const stats = fstatSync(fd)
      if (attempt === ATTEMPTS || tagOf(before) === tagOf(stats)) return { sha256: sum, stats }
    }
  } finally {
    closeSync(fd)
  }
}

/** Fills an array from a file position. Returns the number of bytes read. */
export function fill(fd: number, bytes: Uint8Array, position: number): number {
  let filled = 0
  while (filled < bytes.length) {
    const count = readSync(fd, bytes, filled, bytes.length - filled, position + filled)
    if (count === 0) break
    filled += count
  }
  return filled
}

/** Throws for anything but a file, before it is opened. */
export function requireFile(verb: string, path: Path, stats: Stats): void {
  if (stats.isFile()) return
  const cannot = `Cannot ${verb} ${quote(display(path))}: it is`
  const details = { path: display(path) }
  if (stats.isDirectory()) throw new ToolError('IS_DIRECTORY', `${cannot} a directory`, details)
  if (stats.isSymbolicLink()) throw new ToolError('INVALID_INPUT', `${cannot} a link`, details)
  throw new ToolError('PATH_REJECTED', `${cannot} neither a file, a directory nor a link`, details)
}

async function withFile<T>(access: TreeAccess, verb: string, path: Path, use: (fd: number) => Promise<T>): Promise<T> {
  const entry = access.look(path)
  let fd: number
  try {
    fd = openEntry(verb, path, entry)
  } finally {
    entry.close()
  }
  try {
    return await use(fd)
  } finally {
    closeSync(fd)
  }
}

function openEntry(verb: string, path: Path, entry: EntryHandle): number {
  requireFile(verb, path, entry.stat)
  const fd = entry.open()
  if (entry.isExact) return fd
  try {
    // If lstat and open are two calls, another entry may have been opened.
    requireFile(verb, path, fstatSync(fd))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

/** Throws if the file no longer has the tag of the range, with its present version. */
async function requireTag(fd: number, path: Path, tag: string | undefined, stats: Stats): Promise<void> {
  if (tag === undefined || tag === tagOf(stats)) return
  const currentSha256 = stats.size <= AT_ONCE_BYTES ? hashAtOnce(fd, stats.size) : await hashSlowly(fd, stats.size)
  throw new ToolError('WRITE_CONFLICT', `Cannot read ${quote(path)}: it changed in the meantime`, {
    path,
    currentSha256,
  })
}

function tooLarge(path: Path, size: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot read ${quote(path)}: ${size} bytes at once are too many`, {
    path,
    value: MAX_BYTES,
  })
}

async function fillSlowly(fd: number, bytes: Uint8Array, position: number): Promise<number> {
  let filled = 0
  while (filled < bytes.length) {
    const length = Math.min(4 * AT_ONCE_BYTES, bytes.length - filled)
    const { bytesRead } = await promisify(read)(fd, bytes, filled, length, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

function hashAtOnce(fd: number, size: number): string {
  const bytes = new Uint8Array(size)
  return sha256(bytes.subarray(0, fill(fd, bytes, 0)))
}

/** Reads at most `size` bytes: another process may append as fast as they are read. */
async function hashSlowly(fd: number, size: number): Promise<string> {
  const hash = createHash('sha256')
  const bytes = new Uint8Array(AT_ONCE_BYTES)
  for (let position = 0; position < size; ) {
    const { bytesRead } = await promisify(read)(fd, bytes, 0, Math.min(bytes.length, size - position), position)
    if (bytesRead === 0) break
    hash.update(bytes.subarray(0, bytesRead))
    position += bytesRead
  }
  return hash.digest('hex')
}
