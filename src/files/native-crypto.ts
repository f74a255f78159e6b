import { sha256Portable } from './sha256.ts'

/** What is used of Node's crypto module. */
export interface NativeCrypto {
  createHash(algorithm: 'sha256'): { update(data: Uint8Array | string): unknown; digest(encoding: 'hex'): string }
  /** One shot, twice as fast on small data; not on every version. */
  hash?(algorithm: 'sha256', data: Uint8Array | string, encoding: 'hex'): string
}

/** Node, Deno, Bun and workerd with Node compatibility hand out their crypto module without an import. */
export interface ModuleHost {
  getBuiltinModule?(name: string): unknown
}

/** The crypto module of a host, where it has one that hashes as it should. */
export function findNativeCrypto(host: ModuleHost | undefined): NativeCrypto | undefined {
  try {
    const crypto = host?.getBuiltinModule?.('node:crypto') as NativeCrypto | undefined
    if (crypto === undefined) return undefined
    return oneShot(crypto)('abc') === sha256Portable(new TextEncoder().encode('abc')) ? crypto : undefined
  } catch {
    // A platform that only pretends to have the module.
    return undefined
  }
}

/** The hash of all the data at once, as lowercase hex. */
export function oneShot({ hash, createHash }: NativeCrypto): (data: Uint8Array | string) => string {
  if (hash !== undefined) return (data) => hash('sha256', data, 'hex')
  return (data) => {
    const whole = createHash('sha256')
    whole.update(data)
    return whole.digest('hex')
  }
}
