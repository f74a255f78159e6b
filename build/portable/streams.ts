import { Deflate, Gzip, Inflate } from 'fflate'
import { CheckedGunzip } from './checked-gunzip.ts'

/** A stream of fflate. */
interface Codec {
  push(bytes: Uint8Array, isLast: boolean): void
}
type CodecOf = Readonly<Record<string, (onOutput: (part: Uint8Array) => void) => Codec>>

const compressors: CodecOf = {
  gzip: (onOutput) => new Gzip(onOutput),
  'deflate-raw': (onOutput) => new Deflate(onOutput),
}
const decompressors: CodecOf = {
  gzip: (onOutput) => new CheckedGunzip(onOutput),
  'deflate-raw': (onOutput) => new Inflate(onOutput),
}

/** Bytes that a codec gets at once. It makes up to a thousand times as many of them. */
const SLICE = 4096
const EMPTY = new Uint8Array()

/** A stream through a codec. It takes input only as its output is read. */
function streamOf(codecs: CodecOf, format: string): TransformStream<Uint8Array, Uint8Array> {
  const create = codecs[format]
  if (create === undefined) throw new TypeError(`Unsupported compression format: ${format}`)
  const { readable: input, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const reader = input.getReader()
  const output: Uint8Array[] = []
  const codec = create((part) => output.push(part))
  let rest: Uint8Array = EMPTY
  let isLast = false
  /** Gives the codec some input. The codec has to know which is the last, so the input is read ahead. */
  const feed = async (): Promise<void> => {
    if (rest.length > SLICE) {
      codec.push(rest.subarray(0, SLICE), false)
      rest = rest.subarray(SLICE)
      return
    }
    const next = await reader.read()
    isLast = next.done
    if (isLast || rest.length > 0) codec.push(rest, isLast)
    rest = next.value ?? EMPTY
  }
  const readable = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        while (output.length === 0 && !isLast) await feed()
      } catch (error) {
        await reader.cancel(error)
        throw error
      }
      const part = output.shift()
      if (part !== undefined) controller.enqueue(part)
      if (isLast && output.length === 0) controller.close()
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return { readable, writable }
}

/*
 * The platform's streams, or those in JavaScript if the platform has none, or has constructors that throw (Next's edge runtime).
 * The packages call them with `new`, which returns what they return.
 */

export function CompressionStream(format: CompressionFormat) {
  try {
    return new globalThis.CompressionStream(format)
  } catch {
    return streamOf(compressors, format)
  }
}

export function DecompressionStream(format: CompressionFormat) {
  try {
    return new globalThis.DecompressionStream(format)
  } catch {
    return streamOf(decompressors, format)
  }
}
