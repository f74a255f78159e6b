import { createHash } from 'node:crypto'
import { closeSync, fstatSync, read, readSync, type Stats } from 'node:fs'
import { promisify } from 'node:util'
import { ToolError } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { display, type Path, quote } from '../../paths/logical-path.ts'
import type { FileRead } from '../../storage/backend.ts'
import { statOf, tagOf } from './stat.ts'
import type { EntryHandle, TreeAccess } from './tree-access.ts'

/** Up to this many bytes are read without the thread pool, which would cost more than the reading. */
export const AT_ONCE_BYTES = 1024 * 1024

/** What is larger does not fit into one array everywhere, and can be read in ranges. */
const LARGEST_BYTES = 1024 * 1024 * 1024

/** How often a file is read again that changes while it is read. */
const ATTEMPTS = 3

export interface Range {
  readonly start: number
  readonly end: number
  readonly tag?: string
}

/** The bytes of a file or of a range of it, with the stat they belong to. Throws ToolErrors and the system's errors. */
export async function readContent(
  ground: TreeAccess,
  path: Path,
  range: Range | undefined,
  modes: boolean,
): Promise<FileRead> {
  return withFile(ground, 'read', path, async (fd) => {
    for (let attempt = 1; ; attempt++) {
      const before = fstatSync(fd)
      requireTag(path, range?.tag, before)
      const start = Math.min(Math.max(0, range?.start ?? 0), before.size)
      const end = Math.max(start, Math.min(range?.end ?? before.size, before.size))
      if (end - start > LARGEST_BYTES) throw tooLarge(path, end - start)
      const bytes = new Uint8Array(end - start)
      let got: number
      if (bytes.length <= AT_ONCE_BYTES) got = fill(fd, bytes, start)
      else got = await fillSlowly(fd, bytes, start)
      const after = fstatSync(fd)
      const steady = got === bytes.length && tagOf(before) === tagOf(after)
      if (steady) return { bytes, stat: statOf(after, modes) }
      if (attempt < ATTEMPTS) continue
      // Someone writes into it all the time: what was read is no version that could be named again.
      const stat = statOf(after, modes)
      return { bytes: bytes.subarray(0, got), stat: { ...stat, tag: `${stat.tag}~${performance.now()}` } }
    }
  })
}

/** The sha256 of a file that was looked at, read in pieces, and its stat at that time. */
export async function hashContent(path: Path, look: EntryHandle): Promise<{ sha256: string; stats: Stats }> {
  const fd = openLook('read', path, look)
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

/** Fills an array from a position on; returns how many bytes there were. */
export function fill(fd: number, bytes: Uint8Array, position: number): number {
  let got = 0
  while (got < bytes.length) {
    const count = readSync(fd, bytes, got, bytes.length - got, position + got)
    if (count === 0) break
    got += count
  }
  return got
}

/** Refuses what is no file, before it is opened. */
export function requireFile(verb: string, path: Path, stats: Stats): void {
  if (stats.isFile()) return
  const cannot = `Cannot ${verb} ${quote(display(path))}: it is`
  const details = { path: display(path) }
  if (stats.isDirectory()) throw new ToolError('IS_DIRECTORY', `${cannot} a directory`, details)
  if (stats.isSymbolicLink()) throw new ToolError('INVALID_INPUT', `${cannot} a link`, details)
  throw new ToolError('PATH_REJECTED', `${cannot} neither a file, a directory nor a link`, details)
}

async function withFile<T>(ground: TreeAccess, verb: string, path: Path, use: (fd: number) => Promise<T>): Promise<T> {
  const look = ground.look(path)
  let fd: number
  try {
    fd = openLook(verb, path, look)
  } finally {
    look.close()
  }
  try {
    return await use(fd)
  } finally {
    closeSync(fd)
  }
}

function openLook(verb: string, path: Path, look: EntryHandle): number {
  requireFile(verb, path, look.stat)
  const fd = look.open()
  if (look.isExact) return fd
  try {
    // Where looking and opening are two calls, something else may have been opened.
    requireFile(verb, path, fstatSync(fd))
    return fd
  } catch (error) {
    closeSync(fd)
    throw error
  }
}

function requireTag(path: Path, tag: string | undefined, stats: Stats): void {
  if (tag === undefined || tag === tagOf(stats)) return
  throw new ToolError('WRITE_CONFLICT', `Cannot read ${quote(path)}: it changed in the meantime`, { path })
}

function tooLarge(path: Path, size: number): ToolError {
  return new ToolError('LIMIT_EXCEEDED', `Cannot read ${quote(path)}: ${size} bytes at once are too many`, {
    path,
    value: LARGEST_BYTES,
  })
}

async function fillSlowly(fd: number, bytes: Uint8Array, position: number): Promise<number> {
  let got = 0
  while (got < bytes.length) {
    const length = Math.min(4 * AT_ONCE_BYTES, bytes.length - got)
    const { bytesRead } = await promisify(read)(fd, bytes, got, length, position + got)
    if (bytesRead === 0) break
    got += bytesRead
  }
  return got
}

function hashAtOnce(fd: number, size: number): string {
  const bytes = new Uint8Array(size)
  return sha256(bytes.subarray(0, fill(fd, bytes, 0)))
}

/** No more than there was at first: somebody may add to it as fast as it is read. */
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
