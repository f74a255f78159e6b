import { type DecodedZlib, decodeZlib } from '../util/decode-zlib.ts'
import { corrupt } from './corrupt-error.ts'

const START_BYTES = 20

/**
 * Measures a zlib stream without inflating it: its end, its size and its first bytes. Takes time in proportion to the input, however
 * much it inflates to.
 *
 * @throws ToolError `BACKEND_ERROR` if the stream is damaged, or inflates to more than `maxSize` bytes
 */
export function zlibExtent(bytes: Uint8Array, from: number, maxSize: number): DecodedZlib {
  try {
    return decodeZlib(bytes, from, maxSize, START_BYTES)
  } catch {
    throw corrupt('an object is damaged, or larger than its header says')
  }
}
