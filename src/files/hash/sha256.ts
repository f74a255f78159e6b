import { findNativeCrypto, type ModuleHost, oneShot } from './native-crypto.ts'
import { createSha256Portable, type IncrementalHash, sha256Portable } from './sha256-portable.ts'
import { sha256Web, sha256WebAhead } from './web-crypto.ts'

/** The version of a file's bytes: their SHA-256 as 64 lowercase hex digits. Synchronous on every platform. */
export function sha256(bytes: Uint8Array): string {
  return nativeHash === undefined ? sha256Portable(bytes) : nativeHash(bytes)
}

/** {@link sha256} of bytes that nobody changes any more: remembered by identity for as long as they live. */
export function sha256Cached(bytes: Uint8Array): string {
  let version = keptVersions.get(bytes)
  if (version === undefined) {
    version = sha256(bytes)
    keptVersions.set(bytes, version)
  }
  return version
}

/** What {@link sha256Cached} has worked out before, if it has. */
export function cachedSha256(bytes: Uint8Array): string | undefined {
  return keptVersions.get(bytes)
}

/**
 * Makes {@link sha256Cached} of these cost nothing: many small ones are several times faster by WebCrypto than in JavaScript,
 * if each waits for the one before.
 */
export async function precomputeSha256(all: Iterable<Uint8Array>): Promise<void> {
  if (nativeHash === undefined) await sha256WebAhead(all, keptVersions)
}

const keptVersions = new WeakMap<Uint8Array, string>()

/** The version that a text has as UTF-8. Lone surrogates count as U+FFFD, as in any UTF-8 encoder. */
export function sha256Text(text: string): string {
  return nativeHash === undefined ? sha256Portable(encoder.encode(text)) : nativeHash(text)
}

/** {@link sha256} off the main thread where that is faster: without a native synchronous hash, for larger files. */
export async function sha256Async(bytes: Uint8Array): Promise<string> {
  return nativeHash === undefined ? sha256Web(bytes) : nativeHash(bytes)
}

/** {@link sha256} of bytes that come in parts. */
export function createSha256(): IncrementalHash {
  if (nativeCrypto === undefined) return createSha256Portable()
  const hash = nativeCrypto.createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') }
}

const encoder = new TextEncoder()

const nativeCrypto = findNativeCrypto((globalThis as { process?: ModuleHost }).process, 'sha256', sha256Portable)
const nativeHash = nativeCrypto === undefined ? undefined : oneShot(nativeCrypto, 'sha256')
