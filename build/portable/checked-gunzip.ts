import { Gunzip } from 'fflate'
import { concatBytes } from '../../src/util/bytes.ts'
import { crc32 } from '../../src/util/crc32.ts'

/** The checksum and the size at the end of each member of a gzip file. */
const TRAILER_BYTES = 8

/** A stream that decompresses gzip files. fflate itself accepts files that are cut short, and compares no checksums. */
export class CheckedGunzip {
  readonly #gunzip: Gunzip
  /** The last two inputs: a member ends in the one before its successor's header is complete. */
  #inputs: readonly [Uint8Array, Uint8Array] = [EMPTY, EMPTY]
  #inputSize = 0
  #checksum = 0
  #size = 0

  constructor(onOutput: (part: Uint8Array) => void) {
    this.#gunzip = new Gunzip((part) => {
      this.#checksum = crc32(part, this.#checksum)
      this.#size += part.length
      onOutput(part)
    })
    this.#gunzip.onmember = (offset) => this.#check(offset)
  }

  push(bytes: Uint8Array, isLast: boolean): void {
    this.#inputs = [this.#inputs[1], bytes]
    this.#inputSize += bytes.length
    this.#gunzip.push(bytes, isLast)
    if (isLast) this.#check(this.#inputSize)
  }

  /** Checks the member that ends at an offset. */
  #check(offset: number): void {
    const recent = concatBytes(this.#inputs)
    const end = offset - (this.#inputSize - recent.length)
    const trailer = recent.subarray(Math.max(0, end - TRAILER_BYTES), Math.max(0, end))
    if (trailer.length < TRAILER_BYTES) throw new Error('unexpected end of file')
    const numbers = new DataView(trailer.buffer, trailer.byteOffset)
    const isRight = numbers.getUint32(0, true) === this.#checksum && numbers.getUint32(4, true) === this.#size % 2 ** 32
    if (!isRight) throw new Error('unexpected end of file, or wrong checksum')
    this.#checksum = 0
    this.#size = 0
  }
}

const EMPTY = new Uint8Array()
