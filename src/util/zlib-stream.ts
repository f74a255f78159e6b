import { pipeBytes } from './pipe-bytes.ts'

/*
 * zlib streams by the platform's own streams, or in JavaScript on platforms without them. Next's edge runtime defines the
 * constructors, which throw.
 */

const loadPortable = () => import('./portable-zlib.ts')

/** Returns what `create` returns, or `undefined` on a platform on which it throws. */
function supported<T>(create: () => T): T | undefined {
  try {
    return create()
  } catch {
    return undefined
  }
}

const decompressor = () => supported(() => new DecompressionStream('deflate'))

/**
 * Inflates a zlib stream to at most `max` bytes. `bytes` must end where the stream ends.
 *
 * @throws RangeError or the platform's error if there are more bytes or the stream is damaged
 */
export async function inflateStream(bytes: Uint8Array, max: number): Promise<Uint8Array> {
  const stream = decompressor()
  if (stream !== undefined) return pipeBytes(bytes, stream, max)
  const { inflatePortable } = await loadPortable()
  return inflatePortable(bytes, max)
}

/**
 * Inflates the beginning of a zlib stream: `length` bytes if it has as many.
 *
 * @throws the platform's error if the stream is damaged
 */
export async function inflateStreamStart(bytes: Uint8Array, length: number): Promise<Uint8Array> {
  const stream = decompressor()
  if (stream === undefined) {
    const { inflateStartPortable } = await loadPortable()
    return inflateStartPortable(bytes, length)
  }
  const source = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream()
  const reader = source.pipeThrough(stream).getReader()
  const start = new Uint8Array(length)
  let at = 0
  while (at < length) {
    const { done, value } = await reader.read()
    if (done) break
    const part = value.subarray(0, length - at)
    start.set(part, at)
    at += part.length
  }
  await reader.cancel()
  return start.subarray(0, at)
}

/** Compresses bytes to a zlib stream. */
export async function deflateStream(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = supported(() => new CompressionStream('deflate'))
  if (stream !== undefined) return pipeBytes(bytes, stream)
  const { deflatePortable } = await loadPortable()
  return deflatePortable(bytes)
}
