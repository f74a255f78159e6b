import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

// Platforms without these flags have `undefined`, which counts as 0.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants

/** How a file is opened. */
export interface RegularFileOptions {
  /** The largest size to read. */
  readonly maxBytes: number
  /** Refuses a link, for a file that nobody has named. */
  readonly noFollow?: boolean
}

/**
 * Reads a regular file. Never blocks on a FIFO, never reads a device, and allocates at most `maxBytes`.
 *
 * @throws Error with the reason, in the form "it is not a regular file"
 */
export function readRegularFile(file: string, { maxBytes, noFollow = false }: RegularFileOptions): Buffer {
  const fd = openRegularFile(file, noFollow)
  try {
    return readBounded(fd, maxBytes)
  } finally {
    closeSync(fd)
  }
}

/**
 * Opens a regular file for reading.
 *
 * @throws Error with the reason
 */
export function openRegularFile(file: string, noFollow = false): number {
  let fd: number
  try {
    fd = openSync(file, O_RDONLY | O_NONBLOCK | (noFollow ? O_NOFOLLOW : 0))
  } catch (error) {
    throw new Error(reasonOf((error as NodeJS.ErrnoException).code, noFollow))
  }
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw new Error('it is not a regular file')
}

/**
 * Reads an open file to its end.
 *
 * @throws Error if that is beyond `maxBytes`
 */
export function readBounded(fd: number, maxBytes: number): Buffer {
  const chunks: Buffer[] = []
  let length = 0
  for (;;) {
    const chunk = Buffer.allocUnsafe(Math.min(64 * 1024, maxBytes + 1 - length))
    const read = readSync(fd, chunk, 0, chunk.length, null)
    if (read === 0) return Buffer.concat(chunks, length)
    chunks.push(chunk.subarray(0, read))
    length += read
    if (length > maxBytes) throw new Error(`it is larger than ${sizeText(maxBytes)}`)
  }
}

function reasonOf(code: string | undefined, noFollow: boolean): string {
  if (code === 'ENOENT') return 'it does not exist'
  if (code === 'EACCES' || code === 'EPERM') return 'access is denied'
  if (code === 'ELOOP' && noFollow) return 'it is a link'
  return 'it is not a readable file'
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024
  return mebibytes >= 1 ? `${mebibytes} MiB` : `${bytes / 1024} KiB`
}
