import { randomBytes } from 'node:crypto'
import { deflateRawSync, gunzipSync, gzipSync, inflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { CompressionStream, DecompressionStream } from '../../../build/portable/streams.ts'
import { loadAgain } from '../../load-again.ts'

type Stream = ReadableWritablePair<Uint8Array, Uint8Array>

/** The bundle calls the functions with `new`, as its packages call the constructors. */
const create = (make: unknown, format: string): Stream => Reflect.construct(make as new () => Stream, [format])

/** Pipes bytes in parts of a length. */
async function piped(stream: Stream, bytes: Uint8Array, length: number): Promise<Uint8Array> {
  let at = 0
  const source = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(bytes.subarray(at, at + length))
      at += length
    },
  })
  return new Uint8Array(await new Response(source.pipeThrough(stream) as ReadableStream).arrayBuffer())
}

const throws = class {
  constructor() {
    throw new Error('A Node.js API is used which is not supported in the Edge Runtime.')
  }
}

describe.each([
  ['gzip', gzipSync, gunzipSync],
  ['deflate-raw', deflateRawSync, inflateRawSync],
] as const)('the stream of %s on a platform whose constructors throw', (format, compress, decompress) => {
  beforeEach(() => {
    vi.stubGlobal('CompressionStream', throws)
    vi.stubGlobal('DecompressionStream', throws)
  })
  afterEach(() => {
    vi.unstubAllGlobals()
  })

  it('decompresses what zlib compresses, and the reverse', async () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 20_000 }),
      fc.integer({ min: 1, max: 50_000 }).map((length) => Uint8Array.from({ length }, (_, i) => i >> 9)),
    )
    await fc.assert(
      fc.asyncProperty(content, fc.integer({ min: 200, max: 10_000 }), async (bytes, length) => {
        const compressed = await piped(create(CompressionStream, format), bytes, length)
        expect(decompress(compressed).equals(bytes)).toBe(true)
        const input = Uint8Array.from(compress(bytes))
        const output = await piped(create(DecompressionStream, format), input, length)
        expect(Buffer.compare(output, bytes)).toBe(0)
      }),
      { numRuns: 30 },
    )
  })

  it('fails for bytes that are cut short, and ends the pipe', async () => {
    const bytes = Uint8Array.from(compress(new Uint8Array(20_000).map((_, i) => (i * i) >> 3)))
    for (let length = 1; length < bytes.length; length += 7) {
      await expect(piped(create(DecompressionStream, format), bytes.subarray(0, length), 5000)).rejects.toThrow()
    }
  })

  it('decompresses no more than is read', async () => {
    const bomb = Uint8Array.from(compress(new Uint8Array(30_000_000)))
    let taken = 0
    const source = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          controller.enqueue(bomb.subarray(taken, taken + 4096))
          taken += 4096
        },
      },
      { highWaterMark: 0 },
    )
    const reader = source.pipeThrough(create(DecompressionStream, format)).getReader()
    await reader.read()
    await reader.cancel()
    expect(taken).toBeLessThan(bomb.length / 2)
  })

  it('refuses other formats', () => {
    expect(() => create(CompressionStream, 'brotli')).toThrow('Unsupported compression format: brotli')
  })
})

describe('the streams of the bundle', () => {
  it('are the platform’s where it has them', () => {
    expect(create(CompressionStream, 'gzip')).toBeInstanceOf(globalThis.CompressionStream)
    expect(create(DecompressionStream, 'gzip')).toBeInstanceOf(globalThis.DecompressionStream)
  })
})

describe('the gunzip of the bundle on a platform without zlib', () => {
  /** The module as it is without the modules of Node. */
  async function portable() {
    const own = process.getBuiltinModule
    Object.assign(process, { getBuiltinModule: undefined })
    return loadAgain<typeof import('../../../build/portable/zlib.ts')>('build/portable/zlib.ts').finally(() =>
      Object.assign(process, { getBuiltinModule: own }),
    )
  }
  const contents = [0, 1, 5000, 70_000].map((length) => Uint8Array.from({ length }, (_, i) => (i * i) >> 3))
  const members = contents.map((bytes) => Uint8Array.from(gzipSync(bytes)))

  it('decompresses every member', async () => {
    const zlib = await portable()
    for (const [i, member] of members.entries()) {
      expect(Buffer.compare(zlib.gunzipSync(member), contents[i] as Uint8Array)).toBe(0)
      expect(gunzipSync(zlib.gzipSync(contents[i] as Uint8Array)).equals(contents[i] as Uint8Array)).toBe(true)
    }
    // The second member starts at every place of a slice and of the one after it.
    for (let length = 4000; length < 4200; length += 3) {
      const first = randomBytes(length)
      const input = Buffer.concat([gzipSync(first, { level: 0 }), ...members])
      expect(Buffer.compare(zlib.gunzipSync(input), Buffer.concat([first, ...contents]))).toBe(0)
    }
  })

  it('refuses every file that is cut short, and a wrong checksum or size', async () => {
    const zlib = await portable()
    const whole = Buffer.concat([members[1] as Uint8Array, members[2] as Uint8Array])
    for (let length = 0; length < whole.length; length++) {
      if (length === members[1]?.length) continue
      expect(() => zlib.gunzipSync(whole.subarray(0, length)), `${length} bytes`).toThrow()
    }
    for (const end of [members[1]?.length ?? 0, whole.length]) {
      for (const at of [end - 8, end - 1]) {
        const damaged = Uint8Array.from(whole)
        damaged[at] = (damaged[at] as number) ^ 1
        expect(() => zlib.gunzipSync(damaged)).toThrow('checksum')
      }
    }
  })

  it('stops at the limit', async () => {
    const zlib = await portable()
    const bomb = gzipSync(Buffer.alloc(20_000_000))
    expect(() => zlib.gunzipSync(bomb, { maxOutputLength: 1_000_000 })).toThrow(RangeError)
  })
})
