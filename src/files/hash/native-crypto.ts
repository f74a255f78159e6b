/** The part of Node's crypto module that is used. */
export interface NativeCrypto {
  createHash(algorithm: Algorithm): NativeHash
  /** Hashes in one call, twice as fast for small data. Missing in older versions. */
  hash?(algorithm: Algorithm, data: Uint8Array | string, encoding: 'hex'): string
}

/** A hash algorithm. */
export type Algorithm = 'sha1' | 'sha256'

/** A hash of Node's crypto module. */
export interface NativeHash {
  update(data: Uint8Array | string): NativeHash
  digest(encoding: 'hex'): string
}

/** `process` in Node, Deno, Bun, and workerd with Node compatibility, which provides the crypto module without an import. */
export interface ModuleHost {
  getBuiltinModule?(name: string): unknown
}

/** Returns the crypto module of a host if it gives the same hash as the portable code. */
export function findNativeCrypto(
  host: ModuleHost | undefined,
  algorithm: Algorithm,
  portable: (bytes: Uint8Array) => string,
): NativeCrypto | undefined {
  try {
    const crypto = host?.getBuiltinModule?.('node:crypto') as NativeCrypto | undefined
    if (crypto === undefined) return undefined
    const sample = new TextEncoder().encode('abc')
    const expected = portable(sample)
    const whole = crypto.createHash(algorithm).update(sample).digest('hex')
    return whole === expected && oneShot(crypto, algorithm)('abc') === expected ? crypto : undefined
  } catch {
    // The platform has a stub of the module, or lacks this hash.
    return undefined
  }
}

/** Returns a function that hashes data in one call, as lowercase hex. */
export function oneShot(
  { hash, createHash }: NativeCrypto,
  algorithm: Algorithm,
): (data: Uint8Array | string) => string {
  if (hash !== undefined) return (data) => hash(algorithm, data, 'hex')
  return (data) => createHash(algorithm).update(data).digest('hex')
}
