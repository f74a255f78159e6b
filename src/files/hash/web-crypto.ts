import { factsOf } from '../../util/bytes.ts'
import { sha256Portable } from './sha256-portable.ts'

/** SHA-256 as lowercase hex on platforms without a native synchronous one. Uses WebCrypto, off the main thread, for larger files. */
export async function sha256Web(bytes: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle
  return bytes.length <= MIN_BYTES || subtle === undefined ? sha256Portable(bytes) : digestOf(subtle, bytes)
}

/** Adds missing hashes to what is kept of bytes. Skips bytes that are too few for WebCrypto to be faster. */
export async function sha256WebAhead(all: Iterable<Uint8Array>): Promise<void> {
  const subtle = globalThis.crypto?.subtle
  if (subtle === undefined) return
  for (const bytes of all) {
    const facts = factsOf(bytes)
    if (bytes.length >= MIN_BYTES_IN_SERIES) facts.sha256 ??= await digestOf(subtle, bytes)
  }
}

/** Up to this size, a call to WebCrypto costs more than hashing in JavaScript. */
const MIN_BYTES = 32 * 1024

/** The same limit for consecutive calls. */
const MIN_BYTES_IN_SERIES = 512

async function digestOf(subtle: SubtleCrypto, bytes: Uint8Array): Promise<string> {
  // WebCrypto rejects shared memory. A copy costs little compared with the hash.
  const owned = bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice()
  let hex = ''
  for (const byte of new Uint8Array(await subtle.digest('SHA-256', owned))) hex += HEX[byte]
  return hex
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
