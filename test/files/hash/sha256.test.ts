import { createHash, hash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { findNativeCrypto, oneShot } from '../../../src/files/hash/native-crypto.ts'
import { sha1Portable } from '../../../src/files/hash/sha1.ts'
import {
  cachedSha256,
  createSha256,
  precomputeSha256,
  sha256,
  sha256Async,
  sha256Cached,
  sha256Text,
} from '../../../src/files/hash/sha256.ts'
import { createSha256Portable, sha256Portable } from '../../../src/files/hash/sha256-portable.ts'
import { sha256Web, sha256WebAhead } from '../../../src/files/hash/web-crypto.ts'
import { anyCharacter } from '../../code-points.ts'
import { loadAgain } from '../../load-again.ts'

const oracle = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex')

/** Sizes around the block of 64 bytes and the padding of 9, and around the switch to WebCrypto. */
const sizes = [0, 1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129, 1000, 32_768, 32_769, 100_000]
const sample = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 131 + (i >> 8)) & 0xff)

afterEach(() => {
  vi.unstubAllGlobals()
})

describe('sha256', () => {
  it.each(sizes)('equals node:crypto on %d bytes, native and portable', async (size) => {
    const bytes = sample(size)
    expect(sha256(bytes)).toBe(oracle(bytes))
    expect(sha256Portable(bytes)).toBe(oracle(bytes))
    expect(await sha256Async(bytes)).toBe(oracle(bytes))
  })

  it('equals node:crypto on any bytes, in any parts', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), (parts) => {
        const expected = oracle(Buffer.concat(parts))
        for (const hash of [createSha256(), createSha256Portable()]) {
          for (const part of parts) hash.update(part)
          expect(hash.digest()).toBe(expected)
        }
      }),
    )
  })

  it('equals node:crypto if parts end within blocks', () => {
    const hash = createSha256Portable()
    const bytes = sample(1000)
    for (const [from, to] of [
      [0, 10],
      [10, 60],
      [60, 70],
      [70, 128],
      [128, 900],
      [900, 1000],
    ] as const)
      hash.update(bytes.subarray(from, to))
    expect(hash.digest()).toBe(oracle(bytes))
  })

  it('is not precomputed if there is a native hash', async () => {
    const bytes = sample(1000)
    await precomputeSha256([bytes])
    expect(cachedSha256(bytes)).toBeUndefined()
    expect(sha256Cached(bytes)).toBe(oracle(bytes))
    expect(cachedSha256(bytes)).toBe(oracle(bytes))
  })

  it('hashes only the bytes of a view into a larger buffer', () => {
    const buffer = sample(500)
    expect(sha256(buffer.subarray(100, 300))).toBe(oracle(buffer.slice(100, 300)))
    expect(sha256Portable(buffer.subarray(100, 300))).toBe(oracle(buffer.slice(100, 300)))
  })

  it('hashes text as UTF-8, lone surrogates as U+FFFD', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(sha256Text(text)).toBe(oracle(new TextEncoder().encode(text)))
      }),
    )
    expect(sha256Text('a\ud800b')).toBe(oracle('a\ufffdb'))
  })
})

describe('sha256 on platforms without Node', () => {
  const without = async (getBuiltinModule: unknown) => {
    const own = process.getBuiltinModule
    try {
      Object.assign(process, { getBuiltinModule })
      return await loadAgain<typeof import('../../../src/files/hash/sha256.ts')>('src/files/hash/sha256.ts')
    } finally {
      process.getBuiltinModule = own
    }
  }

  const refuses = (): never => {
    throw new Error('not here')
  }

  it.each([
    ['no modules', undefined],
    ['no such module', () => undefined],
    ['a module with wrong hashes', () => ({ hash: () => 'ff', createHash: () => null })],
    ['a module that throws', refuses],
    ['an older Node without crypto.hash', () => ({ createHash })],
  ])('%s', async (_, getBuiltinModule) => {
    const version = await without(getBuiltinModule)
    for (const size of [0, 3, 64, 40_000]) {
      const bytes = sample(size)
      expect(version.sha256(bytes)).toBe(oracle(bytes))
      expect(await version.sha256Async(bytes)).toBe(oracle(bytes))
      const hash = version.createSha256()
      hash.update(bytes)
      expect(hash.digest()).toBe(oracle(bytes))
    }
    expect(version.sha256Text('grün')).toBe(oracle('grün'))
  })

  /** Runs a function and returns the lengths of the data that it passes to WebCrypto. */
  const handed = async (done: () => Promise<unknown>): Promise<number[]> => {
    const lengths: number[] = []
    const { subtle } = globalThis.crypto
    const digest = (name: string, data: Uint8Array<ArrayBuffer>) => {
      lengths.push(data.length)
      return subtle.digest(name, data)
    }
    vi.stubGlobal('crypto', { subtle: { digest } })
    await done()
    return lengths
  }

  it('passes large files to WebCrypto, and shared memory as a copy', async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(40_000))
    shared.set(sample(40_000))
    const lengths = await handed(async () => {
      for (const size of [0, 1000, 32_768, 32_769, 40_000]) {
        expect(await sha256Web(sample(size))).toBe(oracle(sample(size)))
      }
      expect(await sha256Web(shared)).toBe(oracle(sample(40_000)))
    })
    expect(lengths).toEqual([32_769, 40_000, 40_000])
  })

  it('precomputes the hashes for which WebCrypto is faster, once', async () => {
    const all = [511, 512, 513].map(sample)
    const [small, first, second] = all as [Uint8Array, Uint8Array, Uint8Array]
    const lengths = await handed(async () => {
      await sha256WebAhead(all)
      await sha256WebAhead(all)
    })
    expect(lengths).toEqual([512, 513])
    expect([small, first, second].map(cachedSha256)).toEqual([undefined, oracle(first), oracle(second)])
  })

  it.each<[string, unknown]>([
    ['no WebCrypto', undefined],
    ['a WebCrypto without hashes', {}],
  ])('%s: hashes large files without it, and precomputes no hash', async (_, crypto) => {
    vi.stubGlobal('crypto', crypto)
    const bytes = sample(40_000)
    await sha256WebAhead([bytes])
    expect(cachedSha256(bytes)).toBeUndefined()
    expect(await sha256Web(bytes)).toBe(oracle(bytes))
  })

  const lying = { update: () => lying, digest: () => 'ff' }
  it.each<[string, Parameters<typeof findNativeCrypto>[0]]>([
    ['no host', undefined],
    ['no modules', {}],
    ['no such module', { getBuiltinModule: () => undefined }],
    ['a module with wrong hashes', { getBuiltinModule: () => ({ hash: () => 'ff', createHash }) }],
    ['a module with wrong hashes of parts', { getBuiltinModule: () => ({ hash, createHash: () => lying }) }],
    ['a module without hashes', { getBuiltinModule: () => ({}) }],
    ['a module that throws', { getBuiltinModule: refuses }],
  ])('%s: has no native hash', (_, host) => {
    expect(findNativeCrypto(host, 'sha256', sha256Portable)).toBeUndefined()
  })

  it('has no native hash for an algorithm that the module lacks', () => {
    const half = {
      hash,
      createHash(algorithm: string) {
        if (algorithm === 'sha1') throw new Error('unsupported')
        return createHash(algorithm)
      },
    }
    const host = { getBuiltinModule: () => half }
    expect(findNativeCrypto(host, 'sha256', sha256Portable)).toBe(half)
    expect(findNativeCrypto(host, 'sha1', sha1Portable)).toBeUndefined()
  })

  it('requests the module by name, and accepts one without crypto.hash', () => {
    const older = { createHash }
    const requests: string[] = []
    const getBuiltinModule = (name: string) => {
      requests.push(name)
      return older
    }
    expect(findNativeCrypto({ getBuiltinModule }, 'sha256', sha256Portable)).toBe(older)
    expect(requests).toEqual(['node:crypto'])
    expect(oneShot(older, 'sha256')(sample(100))).toBe(oracle(sample(100)))
    expect(oneShot({ createHash, hash: (...args) => args.join(' ') }, 'sha256')('x')).toBe('sha256 x hex')
  })

  it('hashes large files also without WebCrypto', async () => {
    const version = await without(undefined)
    vi.stubGlobal('crypto', undefined)
    expect(await version.sha256Async(sample(40_000))).toBe(oracle(sample(40_000)))
  })
})
