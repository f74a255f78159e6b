import { factsOf } from '../../util/bytes.ts'
import { checkArgument, isBytes } from '../../util/check-options.ts'
import { createPacer } from '../../util/pacer.ts'
import { findNativeCrypto, type ModuleHost, oneShot } from './native-crypto.ts'
import { createSha256Portable, type IncrementalHash, sha256Portable } from './sha256-portable.ts'
import { sha256Web, sha256WebAhead } from './web-crypto.ts'

/** Returns the version of a file: the SHA-256 of its bytes as 64 lowercase hex digits. Synchronous on every platform. */
export function sha256(bytes: Uint8Array): string {
  checkArgument('sha256()', 'bytes', bytes, isBytes)
  return nativeHash === undefined ? sha256Portable(bytes) : nativeHash(bytes)
}

/** {@link sha256} of bytes that never change. Cached by identity for the lifetime of the bytes. */
export function sha256Cached(bytes: Uint8Array): string {
  const facts = factsOf(bytes)
  facts.sha256 ??= sha256(bytes)
  return facts.sha256
}

/** Returns the version that {@link sha256Cached} has cached, if any. */
export function cachedSha256(bytes: Uint8Array): string | undefined {
  return factsOf(bytes).sha256
}

/**
 * Fills the cache of {@link sha256Cached}. On platforms without a native synchronous hash, WebCrypto is several times
 * faster than JavaScript for many small inputs, if they are hashed one after another.
 */
export async function precomputeSha256(all: Iterable<Uint8Array>): Promise<void> {
  if (nativeHash === undefined) await sha256WebAhead(all)
}

/** Returns the version of a text as UTF-8. A lone surrogate counts as U+FFFD, as in any UTF-8 encoder. */
export function sha256Text(text: string): string {
  return nativeHash === undefined ? sha256Portable(encoder.encode(text)) : nativeHash(text)
}

/**
 * {@link sha256}, computed off the main thread for larger files if the platform has no native synchronous hash, and otherwise with turns
 * of the event loop.
 */
export async function sha256Async(bytes: Uint8Array): Promise<string> {
  checkArgument('sha256Async()', 'bytes', bytes, isBytes)
  if (nativeHash === undefined) return sha256Web(bytes)
  if (bytes.length <= SLICE_BYTES) return nativeHash(bytes)
  const hash = createSha256()
  const pause = createPacer()
  for (let start = 0; start < bytes.length; start += SLICE_BYTES) {
    hash.update(bytes.subarray(start, start + SLICE_BYTES))
    await pause()
  }
  return hash.digest()
}

const SLICE_BYTES = 4 * 1024 * 1024

/** Creates a {@link sha256} of bytes in parts. */
export function createSha256(): IncrementalHash {
  if (nativeCrypto === undefined) return createSha256Portable()
  const hash = nativeCrypto.createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') }
}

const encoder = new TextEncoder()

const nativeCrypto = findNativeCrypto((globalThis as { process?: ModuleHost }).process, 'sha256', sha256Portable)
const nativeHash = nativeCrypto === undefined ? undefined : oneShot(nativeCrypto, 'sha256')
