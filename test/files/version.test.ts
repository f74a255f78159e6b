import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createSha256Portable, sha256Portable } from '../../src/files/sha256.ts'
import {
  createSha256,
  sha256,
  sha256Ahead,
  sha256Async,
  sha256Kept,
  sha256Known,
  sha256Text,
} from '../../src/files/version.ts'

const oracle = (data: Uint8Array | string): string => createHash('sha256').update(data).digest('hex')

/** Sizes around the block of 64 bytes and the padding of 9, and around the switch to WebCrypto. */
const sizes = [0, 1, 54, 55, 56, 57, 63, 64, 65, 118, 119, 120, 127, 128, 129, 1000, 32_768, 32_769, 100_000]
const sample = (size: number): Uint8Array => Uint8Array.from({ length: size }, (_, i) => (i * 131 + (i >> 8)) & 0xff)

afterEach(() => {
  vi.unstubAllGlobals()
  vi.resetModules()
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

  it('equals node:crypto where parts end within blocks', () => {
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

  it('is not worked out ahead where it costs nothing', async () => {
    const bytes = sample(1000)
    await sha256Ahead([bytes])
    expect(sha256Known(bytes)).toBeUndefined()
    expect(sha256Kept(bytes)).toBe(oracle(bytes))
    expect(sha256Known(bytes)).toBe(oracle(bytes))
  })

  it('hashes views into larger buffers by their own bytes', () => {
    const buffer = sample(500)
    expect(sha256(buffer.subarray(100, 300))).toBe(oracle(buffer.slice(100, 300)))
    expect(sha256Portable(buffer.subarray(100, 300))).toBe(oracle(buffer.slice(100, 300)))
  })

  it('hashes text as UTF-8, lone surrogates as U+FFFD', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(sha256Text(text)).toBe(oracle(new TextEncoder().encode(text)))
      }),
    )
    expect(sha256Text('a\ud800b')).toBe(oracle('a\ufffdb'))
  })
})

describe('sha256 on platforms without Node', () => {
  const without = async (getBuiltinModule: unknown): Promise<typeof import('../../src/files/version.ts')> => {
    vi.resetModules()
    const own = process.getBuiltinModule
    try {
      Object.assign(process, { getBuiltinModule })
      return await import('../../src/files/version.ts')
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
    ['a module that lies', () => ({ hash: () => 'ff', createHash: () => null })],
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

  it('hands large files to WebCrypto, shared memory as a copy', async () => {
    const digest = vi.fn(globalThis.crypto.subtle.digest.bind(globalThis.crypto.subtle))
    const version = await without(undefined)
    vi.stubGlobal('crypto', { subtle: { digest } })
    expect(await version.sha256Async(sample(1000))).toBe(oracle(sample(1000)))
    expect(digest).not.toHaveBeenCalled()
    const shared = new Uint8Array(new SharedArrayBuffer(40_000))
    shared.set(sample(40_000))
    expect(await version.sha256Async(shared)).toBe(oracle(sample(40_000)))
    expect(digest).toHaveBeenCalledOnce()
  })

  it('hashes large files all the same where there is no WebCrypto', async () => {
    const version = await without(undefined)
    vi.stubGlobal('crypto', undefined)
    expect(await version.sha256Async(sample(40_000))).toBe(oracle(sample(40_000)))
  })
})
