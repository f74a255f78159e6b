import { concatBytes } from '../util/bytes.ts'

/**
 * Inflates a zlib stream to at most `max` bytes. `bytes` must end with the stream. Synchronous where the platform provides
 * zlib without an import (Node, Deno, Bun, workerd with Node compatibility); a promise elsewhere.
 *
 * @throws RangeError or the platform's error if there are more bytes or the stream is damaged
 */
export function inflate(bytes: Uint8Array, max: number): Uint8Array | Promise<Uint8Array> {
  if (native === undefined) return inflateStream(bytes, max)
  // zlib treats a limit of 0 as no limit.
  return native.inflateSync(bytes, { maxOutputLength: Math.max(1, max) })
}

async function inflateStream(bytes: Uint8Array, max: number): Promise<Uint8Array> {
  const reader = feed(bytes, new DecompressionStream('deflate')).getReader()
  const parts: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.length
    if (length > max) {
      await reader.cancel()
      throw new RangeError('More bytes than allowed')
    }
    parts.push(value)
  }
  return concatBytes(parts)
}

/** Compresses bytes to a zlib stream. */
export function deflate(bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
  return native === undefined ? throughStream(bytes, new CompressionStream('deflate')) : native.deflateSync(bytes)
}

async function throughStream(bytes: Uint8Array, stream: Transform): Promise<Uint8Array> {
  return new Uint8Array(await new Response(feed(bytes, stream)).arrayBuffer())
}

interface Transform {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream
}

function feed(bytes: Uint8Array, stream: Transform): ReadableStream<Uint8Array> {
  const writer = stream.writable.getWriter()
  // Errors surface on the readable side.
  writer
    .write(bytes)
    .then(() => writer.close())
    .catch(() => undefined)
  return stream.readable
}

interface Zlib {
  inflateSync(bytes: Uint8Array, options?: { maxOutputLength: number }): Uint8Array
  deflateSync(bytes: Uint8Array): Uint8Array
}

const native = findZlib()

function findZlib(): Zlib | undefined {
  try {
    const host = (globalThis as { process?: { getBuiltinModule?(name: string): unknown } }).process
    const zlib = host?.getBuiltinModule?.('node:zlib') as Zlib | undefined
    const sample = Uint8Array.of(1, 2, 3)
    return zlib?.inflateSync(zlib.deflateSync(sample))[2] === 3 ? zlib : undefined
  } catch {
    // A platform with an incomplete node:zlib.
    return undefined
  }
}
