import { constants, deflateSync, inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { deflateStream, inflateStream, inflateStreamStart } from '../../src/util/zlib-stream.ts'

const throws = class {
  constructor() {
    throw new Error('A Node.js API is used which is not supported in the Edge Runtime.')
  }
}
const content = fc.oneof(
  fc.uint8Array({ maxLength: 3000 }),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 300 }), fc.integer({ min: 1, max: 700 }))
    .map(([part, count]) =>
      Uint8Array.from({ length: part.length * count }, (_, i) => part[i % part.length] as number),
    ),
)
const options = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  strategy: fc.constantFrom(constants.Z_DEFAULT_STRATEGY, constants.Z_HUFFMAN_ONLY, constants.Z_RLE, constants.Z_FIXED),
})

describe.each([
  ['with streams', {}],
  ['without streams', { CompressionStream: undefined, DecompressionStream: undefined }],
  ['with streams that throw', { CompressionStream: throws, DecompressionStream: throws }],
] as const)('zlib streams on a platform %s', (_, globals) => {
  const withGlobals = async (run: () => Promise<void>) => {
    for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
    await run()
  }
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it('inflate what zlib writes, and zlib inflates what they write', () =>
    withGlobals(() =>
      fc.assert(
        fc.asyncProperty(content, options, fc.nat(100), async (bytes, how, length) => {
          const stream = Uint8Array.from(deflateSync(bytes, how))
          expect(Buffer.compare(await inflateStream(stream, bytes.length), bytes)).toBe(0)
          expect(await inflateStreamStart(stream, length)).toEqual(bytes.subarray(0, length))
          expect(inflateSync(await deflateStream(bytes)).equals(bytes)).toBe(true)
        }),
        { numRuns: 100 },
      ),
    ))

  it('refuse more bytes than allowed, and a stream that is cut short, damaged or not zlib', () =>
    withGlobals(async () => {
      const bytes = new Uint8Array(100_000).fill(7)
      const stream = Uint8Array.from(deflateSync(bytes))
      await expect(inflateStream(stream, bytes.length - 1)).rejects.toThrow(RangeError)
      for (let length = 0; length < stream.length; length++) {
        await expect(inflateStream(stream.subarray(0, length), bytes.length)).rejects.toThrow()
      }
      for (const at of [0, 1, stream.length - 1]) {
        const damaged = stream.with(at, (stream[at] as number) ^ 1)
        await expect(inflateStream(damaged, bytes.length)).rejects.toThrow()
      }
    }))

  it('keep blocks of every length that is not compressed', () =>
    withGlobals(async () => {
      for (const length of [0, 1, 0xffff, 0x1_0000, 2 * 0xffff, 200_000]) {
        const bytes = Uint8Array.from({ length }, (_, i) => (i * i) >> 3)
        expect(Buffer.compare(await inflateStream(await deflateStream(bytes), length), bytes)).toBe(0)
      }
    }))
})
