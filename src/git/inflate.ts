import { nodeModule } from '../util/node-module.ts'
import { deflateStream, inflateStream, inflateStreamStart } from '../util/zlib-stream.ts'

/**
 * Inflates a zlib stream to at most `max` bytes. `bytes` must end where the stream ends. Synchronous where the platform provides
 * zlib without an import (Node, Deno, Bun, workerd with Node compatibility); a promise elsewhere.
 *
 * @throws RangeError or the platform's error if there are more bytes or the stream is damaged
 */
export function inflate(bytes: Uint8Array, max: number): Uint8Array | Promise<Uint8Array> {
  if (native === undefined) return inflateStream(bytes, max)
  // zlib treats a limit of 0 as no limit. One chunk for all bytes saves the copy that joins the chunks.
  return native.inflateSync(bytes, { maxOutputLength: Math.max(1, max), chunkSize: Math.max(64, max + 1) })
}

/**
 * Inflates the beginning of a zlib stream: `length` bytes if it has as many.
 *
 * @throws the platform's error if the stream is damaged
 */
export function inflateStart(bytes: Uint8Array, length: number): Uint8Array | Promise<Uint8Array> {
  if (native === undefined) return inflateStreamStart(bytes, length)
  // One byte inflates to at most 1,032 bytes, which bounds the output. The codes at the start take less than 400 bytes.
  return native.inflateSync(bytes.subarray(0, START_BYTES), { finishFlush: SYNC_FLUSH }).subarray(0, length)
}

const START_BYTES = 1024
/** `Z_SYNC_FLUSH`: the end of the input is not an error. */
const SYNC_FLUSH = 2

/** Compresses bytes to a zlib stream. */
export function deflate(bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
  return native === undefined ? deflateStream(bytes) : native.deflateSync(bytes)
}

interface Zlib {
  inflateSync(
    bytes: Uint8Array,
    options?: { maxOutputLength?: number; chunkSize?: number; finishFlush?: number },
  ): Uint8Array
  deflateSync(bytes: Uint8Array): Uint8Array
}

function findZlib(): Zlib | undefined {
  try {
    const zlib = nodeModule('zlib') as Zlib | undefined
    const sample = zlib?.deflateSync(Uint8Array.of(1, 2, 3))
    if (zlib === undefined || sample === undefined || zlib.inflateSync(sample)[2] !== 3) return undefined
    return zlib.inflateSync(sample.subarray(0, -4), { finishFlush: SYNC_FLUSH })[2] === 3 ? zlib : undefined
  } catch {
    // A platform with an incomplete node:zlib.
    return undefined
  }
}

const native = findZlib()
