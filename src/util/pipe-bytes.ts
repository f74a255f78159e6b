import { concatBytes } from './bytes.ts'

interface ByteTransform {
  readonly readable: ReadableStream<Uint8Array>
  readonly writable: WritableStream
}

/**
 * Pipes bytes through a stream and returns its output of at most `max` bytes. Stops before a larger output takes memory.
 *
 * @throws RangeError if the output is larger; the stream's error if it fails
 */
export async function pipeBytes(
  bytes: Uint8Array,
  stream: ByteTransform,
  max = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  const writer = stream.writable.getWriter()
  // Errors surface on the readable side.
  writer
    .write(bytes)
    .then(() => writer.close())
    .catch(() => undefined)
  const reader = stream.readable.getReader()
  const parts: Uint8Array[] = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return concatBytes(parts)
    length += value.length
    if (length > max) {
      await reader.cancel()
      throw new RangeError('More bytes than allowed')
    }
    parts.push(value)
  }
}
