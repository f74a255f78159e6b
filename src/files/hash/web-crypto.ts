import { sha256Portable } from './sha256-portable.ts'

/** SHA-256 as lowercase hex on a platform without a native synchronous one: by WebCrypto, off the main thread, for larger files. */
export async function sha256Web(bytes: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle
  return bytes.length <= SUBTLE_FROM_BYTES || subtle === undefined ? sha256Portable(bytes) : digestOf(subtle, bytes)
}

/** Works out the hashes that are not kept yet, and keeps them; what is too small for WebCrypto to be faster is left. */
export async function sha256WebAhead(all: Iterable<Uint8Array>, kept: WeakMap<Uint8Array, string>): Promise<void> {
  const subtle = globalThis.crypto?.subtle
  if (subtle === undefined) return
  for (const bytes of all) {
    if (bytes.length < AHEAD_FROM_BYTES || kept.has(bytes)) continue
    kept.set(bytes, await digestOf(subtle, bytes))
  }
}

/** Below this, a call to WebCrypto costs more than hashing in JavaScript. */
const SUBTLE_FROM_BYTES = 32 * 1024

/** As that, where calls are made one after another. */
const AHEAD_FROM_BYTES = 512

async function digestOf(subtle: SubtleCrypto, bytes: Uint8Array): Promise<string> {
  // WebCrypto refuses shared memory, and a copy costs little beside the hash.
  const owned = bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice()
  let hex = ''
  for (const byte of new Uint8Array(await subtle.digest('SHA-256', owned))) hex += HEX[byte]
  return hex
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
