/** What is used of Node's crypto module. */
export interface NativeCrypto {
  createHash(algorithm: Algorithm): NativeHash
  /** One shot, twice as fast on small data; not on every version. */
  hash?(algorithm: Algorithm, data: Uint8Array | string, encoding: 'hex'): string
}

export type Algorithm = 'sha1' | 'sha256'

export interface NativeHash {
  update(data: Uint8Array | string): NativeHash
  digest(encoding: 'hex'): string
}

/** Node, Deno, Bun and workerd with Node compatibility hand out their crypto module without an import. */
export interface ModuleHost {
  getBuiltinModule?(name: string): unknown
}

/** The crypto module of a host, where it has one that hashes as our own code does. */
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
    // A platform that only pretends to have the module, or has not this hash.
    return undefined
  }
}

/** The hash of all the data at once, as lowercase hex. */
export function oneShot(
  { hash, createHash }: NativeCrypto,
  algorithm: Algorithm,
): (data: Uint8Array | string) => string {
  if (hash !== undefined) return (data) => hash(algorithm, data, 'hex')
  return (data) => createHash(algorithm).update(data).digest('hex')
}
