import { pipeBytes } from '../util/pipe-bytes.ts'

/**
 * Inflates a zlib stream to at most `max` bytes. `bytes` must end with the stream. Synchronous where the platform provides
 * zlib without an import (Node, Deno, Bun, workerd with Node compatibility); a promise elsewhere.
 *
 * @throws RangeError or the platform's error if there are more bytes or the stream is damaged
 */
export function inflate(bytes: Uint8Array, max: number): Uint8Array | Promise<Uint8Array> {
  if (native === undefined) return pipeBytes(bytes, new DecompressionStream('deflate'), max)
  // zlib treats a limit of 0 as no limit.
  return native.inflateSync(bytes, { maxOutputLength: Math.max(1, max) })
}

/** Compresses bytes to a zlib stream. */
export function deflate(bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
  return native === undefined ? pipeBytes(bytes, new CompressionStream('deflate')) : native.deflateSync(bytes)
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
