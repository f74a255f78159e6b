import { Inflate, inflateSync } from 'fflate'
import { crc32 } from './crc32.ts'
import type { FileSource } from './fill.ts'
import type { ProjectFile, Task } from './types.ts'
import { createYield } from './yield-to-page.ts'
import { broken, type ReadAt, readDirectory, startOf, windowsOf, type ZipEntry } from './zip-directory.ts'

/** Maximum size of a project: the capacity of the storage in the browser. */
const MAX_BYTES = 512 * 1024 * 1024
const MAX_FILES = 100_000
/** Bytes that are unpacked before the page may do other work. */
const PIECE = 128 * 1024

/**
 * Yields the files of a zip, unpacked one at a time, so that the complete content is never in memory. Checks sizes and
 * checksums against the directory of the zip. Encrypted files are skipped with a warning.
 */
export async function readZip(file: Blob, { signal }: Task = {}, maxBytes = MAX_BYTES): Promise<FileSource> {
  const entries = await readDirectory(file)
  const warnings: string[] = []
  const readable = entries.filter((entry) => {
    const reason = reasonAgainst(entry)
    if (reason !== undefined) warnings.push(`Left out: "${entry.path}", since ${reason}`)
    return reason === undefined
  })
  const bytes = readable.reduce((sum, { size }) => sum + size, 0)
  if (readable.length > MAX_FILES) throw new Error(`Cannot read the zip: it holds more than ${MAX_FILES} files`)
  if (bytes > maxBytes) throw new Error(`Cannot read the zip: it holds more than ${maxBytes / 1024 / 1024} MiB`)
  return { files: unpackAll(file, readable, signal), total: readable.length, warnings }
}

async function* unpackAll(
  file: Blob,
  entries: readonly ZipEntry[],
  signal: AbortSignal | undefined,
): AsyncIterable<ProjectFile> {
  const read = windowsOf(file)
  const yieldToPage = createYield()
  for (const entry of entries) {
    signal?.throwIfAborted()
    const { path, mode } = entry
    if (entry.isDirectory) {
      yield { path, bytes: new Uint8Array(), isDirectory: true }
      continue
    }
    const bytes = await unpack(read, entry, yieldToPage)
    if (entry.isLink) yield { path, bytes: new Uint8Array(), target: new TextDecoder().decode(bytes) }
    else yield { path, bytes, ...(mode !== undefined && { mode }) }
  }
}

function reasonAgainst({ isEncrypted, method }: ZipEntry): string | undefined {
  if (isEncrypted) return 'it is encrypted'
  return method === 0 || method === 8 ? undefined : `it is packed by method ${method}`
}

/** Inflates in pieces: unpacking stops at the declared size, and no file blocks the page. */
async function unpack(
  read: ReadAt,
  entry: ZipEntry,
  yieldToPage: () => Promise<void> | undefined,
): Promise<Uint8Array> {
  const { method, size, packed } = entry
  const start = await startOf(read, entry)
  if (method === 8 && packed <= PIECE && size <= 4 * PIECE) {
    // One byte more than the declared size, to detect content that is longer.
    const bytes = inflateSync(await read(start, start + packed), { out: new Uint8Array(size + 1) })
    return checked(bytes, entry)
  }
  const whole = new Uint8Array(size)
  let filled = 0
  const take = (piece: Uint8Array): void => {
    if (filled + piece.length > size) throw tooLarge(entry)
    whole.set(piece, filled)
    filled += piece.length
  }
  const inflate = method === 8 ? new Inflate(take) : undefined
  for (let at = 0; at < packed; at += PIECE) {
    await yieldToPage()
    // A copy, since the inflater keeps its input.
    const piece = (await read(start + at, start + Math.min(at + PIECE, packed))).slice()
    if (inflate === undefined) take(piece)
    else inflate.push(piece)
  }
  return checked(whole.subarray(0, filled), entry)
}

function checked(bytes: Uint8Array, entry: ZipEntry): Uint8Array {
  if (bytes.length > entry.size) throw tooLarge(entry)
  if (bytes.length < entry.size) throw broken()
  if (crc32(bytes) !== entry.crc32) throw new Error(`Cannot unpack "${entry.path}": the checksum does not match`)
  return bytes
}

function tooLarge({ path }: ZipEntry): Error {
  return new Error(`Cannot unpack "${path}": it is larger than its declared size`)
}
