import { createSha256Portable, type IncrementalHash, sha256Portable } from './sha256.ts'

/** The version of a file's bytes: their SHA-256 as 64 lowercase hex digits. Synchronous on every platform. */
export function sha256(bytes: Uint8Array): string {
  return nativeHash === undefined ? sha256Portable(bytes) : nativeHash(bytes)
}

/** {@link sha256} of bytes that nobody changes any more: remembered by identity for as long as they live. */
export function sha256Kept(bytes: Uint8Array): string {
  let version = keptVersions.get(bytes)
  if (version === undefined) {
    version = sha256(bytes)
    keptVersions.set(bytes, version)
  }
  return version
}

/** What {@link sha256Kept} has worked out before, if it has. */
export function sha256Known(bytes: Uint8Array): string | undefined {
  return keptVersions.get(bytes)
}

/**
 * Makes {@link sha256Kept} of these cost nothing: many small ones are several times faster by WebCrypto than in JavaScript,
 * if each waits for the one before.
 */
export async function sha256Ahead(all: Iterable<Uint8Array>): Promise<void> {
  const subtle = globalThis.crypto?.subtle
  if (nativeHash !== undefined || subtle === undefined) return
  for (const bytes of all) {
    if (bytes.length < AHEAD_FROM_BYTES || keptVersions.has(bytes)) continue
    keptVersions.set(bytes, await digestOf(subtle, bytes))
  }
}

const AHEAD_FROM_BYTES = 512

const keptVersions = new WeakMap<Uint8Array, string>()

/** The version that a text has as UTF-8. Lone surrogates count as U+FFFD, as in any UTF-8 encoder. */
export function sha256Text(text: string): string {
  return nativeHash === undefined ? sha256Portable(encoder.encode(text)) : nativeHash(text)
}

/** {@link sha256} off the main thread where that is faster: without a native synchronous hash, for larger files. */
export async function sha256Async(bytes: Uint8Array): Promise<string> {
  const subtle = globalThis.crypto?.subtle
  if (nativeHash !== undefined || bytes.length <= SUBTLE_FROM_BYTES || subtle === undefined) return sha256(bytes)
  return digestOf(subtle, bytes)
}

async function digestOf(subtle: SubtleCrypto, bytes: Uint8Array): Promise<string> {
  // WebCrypto refuses shared memory, and a copy costs little beside the hash.
  const owned = bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice()
  let hex = ''
  for (const byte of new Uint8Array(await subtle.digest('SHA-256', owned))) hex += HEX[byte]
  return hex
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/** {@link sha256} of bytes that come in parts. */
export function createSha256(): IncrementalHash {
  if (nativeCrypto === undefined) return createSha256Portable()
  const hash = nativeCrypto.createHash('sha256')
  return { update: (bytes) => void hash.update(bytes), digest: () => hash.digest('hex') }
}

/** Below this, a call to WebCrypto costs more than hashing in JavaScript. */
const SUBTLE_FROM_BYTES = 32 * 1024

const encoder = new TextEncoder()

/** What is used of Node's crypto module. */
interface Crypto {
  createHash(algorithm: 'sha256'): { update(data: Uint8Array | string): unknown; digest(encoding: 'hex'): string }
  /** One shot, twice as fast on small data; not on every version. */
  hash?(algorithm: 'sha256', data: Uint8Array | string, encoding: 'hex'): string
}

const nativeCrypto = findNativeCrypto()
const nativeHash = nativeCrypto === undefined ? undefined : oneShot(nativeCrypto)

function oneShot({ hash, createHash }: Crypto): (data: Uint8Array | string) => string {
  if (hash !== undefined) return (data) => hash('sha256', data, 'hex')
  return (data) => {
    const whole = createHash('sha256')
    whole.update(data)
    return whole.digest('hex')
  }
}

/** Node, Deno, Bun and workerd with Node compatibility hand out their crypto module without an import. */
function findNativeCrypto(): Crypto | undefined {
  try {
    const host = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process
    const crypto = host?.getBuiltinModule?.('node:crypto') as Crypto | undefined
    if (crypto === undefined) return undefined
    return oneShot(crypto)('abc') === sha256Portable(encoder.encode('abc')) ? crypto : undefined
  } catch {
    // A platform that only pretends to have the module.
    return undefined
  }
}
