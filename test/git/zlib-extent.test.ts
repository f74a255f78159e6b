import { constants, deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { zlibExtent } from '../../src/git/zlib-extent.ts'

const content = fc.oneof(
  fc.uint8Array({ maxLength: 3000 }),
  fc
    .tuple(fc.array(fc.uint8Array({ minLength: 1, maxLength: 300 }), { minLength: 1, maxLength: 5 }), fc.nat(2000))
    .map(([parts, count]) =>
      Buffer.concat(Array.from({ length: count }, (_, i) => parts[i % parts.length] as Uint8Array)),
    ),
)
const options = fc.record({
  level: fc.integer({ min: 0, max: 9 }),
  strategy: fc.constantFrom(constants.Z_DEFAULT_STRATEGY, constants.Z_HUFFMAN_ONLY, constants.Z_RLE, constants.Z_FIXED),
})

describe('zlibExtent', () => {
  it('finds the end, the size and the start of every stream that zlib writes', () => {
    fc.assert(
      fc.property(content, options, fc.nat(9), (bytes, how, before) => {
        const stream = deflateSync(bytes, how)
        const input = Buffer.concat([Buffer.alloc(before, 1), stream, Buffer.alloc(30, 2)])
        expect(zlibExtent(input, before, bytes.length)).toEqual({
          end: before + stream.length,
          size: bytes.length,
          start: Uint8Array.from(bytes.subarray(0, 20)),
        })
      }),
      { numRuns: 300 },
    )
  })

  it('refuses a stream with more bytes than declared, and every stream that is cut short', () => {
    const stream = deflateSync(Buffer.from('aaaaaaaaaaaaaaaaaaaaaaab, a longer text'))
    expect(() => zlibExtent(stream, 0, 10)).toThrow('larger than its header says')
    for (let length = 0; length < stream.length; length++) {
      expect(() => zlibExtent(stream.subarray(0, length), 0, 1000)).toThrow('damaged')
    }
  })

  it('ends for arbitrary bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
        try {
          expect(zlibExtent(bytes, 0, 1000).size).toBeLessThanOrEqual(1000)
        } catch (error) {
          expect(error).toMatchObject({ code: 'BACKEND_ERROR' })
        }
      }),
    )
  })
})
