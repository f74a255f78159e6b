import { Inflate } from 'fflate'
import { crc32 } from './crc32.ts'
import type { FileSource } from './fill.ts'
import type { ProjectFile, Task } from './types.ts'
import { broken, contentOf, readDirectory, type ZipEntry } from './zip-directory.ts'

/** What a project may weigh: as much as the storage in the browser takes. */
const MOST_BYTES = 512 * 1024 * 1024
const MOST_FILES = 100_000

/**
 * The files of a zip, unpacked one after the other while they are asked for; the whole is never in memory. Sizes and
 * checksums are held to what the zip tells. Encrypted files are left out and told.
 */
export async function readZip(file: Blob, { signal }: Task = {}): Promise<FileSource> {
  const entries = await readDirectory(file)
  const warnings: string[] = []
  const wanted = entries.filter((entry) => {
    const reason = reasonAgainst(entry)
    if (reason !== undefined) warnings.push(`Left out: "${entry.path}", since ${reason}`)
    return reason === undefined
  })
  const bytes = wanted.reduce((sum, { size }) => sum + size, 0)
  if (wanted.length > MOST_FILES) throw new Error(`Cannot read the zip: it holds more than ${MOST_FILES} files`)
  if (bytes > MOST_BYTES) throw new Error('Cannot read the zip: it holds more than 512 MiB')
  return { files: unpacked(file, wanted, signal), total: wanted.length, warnings }
}

async function* unpacked(
  file: Blob,
  entries: readonly ZipEntry[],
  signal: AbortSignal | undefined,
): AsyncIterable<ProjectFile> {
  for (const entry of entries) {
    signal?.throwIfAborted()
    const { path, mode } = entry
    if (entry.isDirectory) {
      yield { path, bytes: new Uint8Array(), isDirectory: true }
      continue
    }
    const bytes = await unpack(await contentOf(file, entry), entry)
    if (entry.isLink) yield { path, bytes: new Uint8Array(), target: new TextDecoder().decode(bytes) }
    else yield { path, bytes, ...(mode !== undefined && { mode }) }
  }
}

function reasonAgainst({ isEncrypted, method }: ZipEntry): string | undefined {
  if (isEncrypted) return 'it is encrypted'
  return method === 0 || method === 8 ? undefined : `it is packed by method ${method}`
}

/** Inflates piece by piece, so that a file that claims less than it holds ends at its claim. */
async function unpack(content: Blob, { method, size, crc32: sum, path }: ZipEntry): Promise<Uint8Array> {
  const whole = new Uint8Array(size)
  let filled = 0
  const take = (piece: Uint8Array): void => {
    if (filled + piece.length > size) throw new Error(`Cannot unpack "${path}": it is larger than it says`)
    whole.set(piece, filled)
    filled += piece.length
  }
  const inflate = method === 8 ? new Inflate(take) : undefined
  const reader = content.stream().getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (inflate === undefined) take(value)
    else inflate.push(value)
  }
  if (filled !== size) throw broken()
  if (crc32(whole) !== sum) throw new Error(`Cannot unpack "${path}": its checksum does not fit`)
  return whole
}
