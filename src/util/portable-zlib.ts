import { concatBytes } from './bytes.ts'
import { decodeZlib } from './decode-zlib.ts'

/** zlib streams in JavaScript, for platforms that have none. They load this module on first use. */

/**
 * Inflates a zlib stream to at most `max` bytes. `bytes` must end where the stream ends.
 *
 * @throws RangeError if there are more bytes or the stream is damaged
 */
export function inflatePortable(bytes: Uint8Array, max: number): Uint8Array {
  const [method = 0, flags = 0] = bytes
  if ((method & 15) !== DEFLATE || (method * 256 + flags) % 31 !== 0) throw new RangeError('Not a zlib stream')
  const { start: whole, end } = decodeZlib(bytes, 0, max, max)
  const checksum = new DataView(bytes.buffer, bytes.byteOffset).getUint32(end - CHECKSUM_BYTES)
  if (end !== bytes.length || checksum !== adler32(whole)) throw new RangeError('The stream is damaged')
  return whole
}

/**
 * Inflates the beginning of a zlib stream: `length` bytes if it has as many.
 *
 * @throws RangeError if the stream is damaged
 */
export function inflateStartPortable(bytes: Uint8Array, length: number): Uint8Array {
  return decodeZlib(bytes, 0, Number.POSITIVE_INFINITY, length).start
}

/** Writes bytes as a zlib stream, without compressing them. */
export function deflatePortable(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [Uint8Array.of(0x78, 0x01)]
  for (let at = 0; at === 0 || at < bytes.length; at += MAX_STORED) {
    const block = bytes.subarray(at, at + MAX_STORED)
    const { length } = block
    const isLast = at + MAX_STORED >= bytes.length
    parts.push(Uint8Array.of(isLast ? 1 : 0, length, length >> 8, ~length, ~length >> 8), block)
  }
  const checksum = new Uint8Array(CHECKSUM_BYTES)
  new DataView(checksum.buffer).setUint32(0, adler32(bytes))
  return concatBytes([...parts, checksum])
}

const DEFLATE = 8
/** The longest block that is not compressed. */
const MAX_STORED = 0xffff
const CHECKSUM_BYTES = 4

/** The sums of as many bytes stay below 2^32. */
const ADLER_BLOCK = 5552
const ADLER_MODULUS = 65_521

function adler32(bytes: Uint8Array): number {
  let [low, high] = [1, 0]
  for (let from = 0; from < bytes.length; from += ADLER_BLOCK) {
    const end = Math.min(from + ADLER_BLOCK, bytes.length)
    for (let i = from; i < end; i++) {
      low += bytes[i] as number
      high += low
    }
    low %= ADLER_MODULUS
    high %= ADLER_MODULUS
  }
  return high * 0x1_0000 + low
}
