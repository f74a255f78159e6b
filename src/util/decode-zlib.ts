/** A zlib stream that was decoded. */
export interface DecodedZlib {
  /** Where the stream ends in its input. */
  readonly end: number
  /** Number of bytes that it inflates to. */
  readonly size: number
  /** The first bytes that it inflates to. */
  readonly start: Uint8Array
}

/** The first length or distance of each code, and the number of extra bits. */
const LENGTHS = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258,
]
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0]
const DISTANCES = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145,
  8193, 12289, 16385, 24577,
]
const DISTANCE_BITS = [0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13]
const CODE_LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

const MAX_BITS = 15
const ADLER_BYTES = 4

/** A canonical Huffman code: the number of codes of each length, and the symbols in the order of their codes. */
interface Code {
  readonly counts: Uint16Array
  readonly symbols: Uint16Array
}

function codeOf(lengths: readonly number[]): Code {
  const counts = new Uint16Array(MAX_BITS + 1)
  for (const length of lengths) counts[length] = (counts[length] as number) + 1
  const offsets = new Uint16Array(MAX_BITS + 2)
  for (let length = 1; length <= MAX_BITS; length++) {
    offsets[length + 1] = (offsets[length] as number) + (counts[length] as number)
  }
  const symbols = new Uint16Array(lengths.length)
  for (const [symbol, length] of lengths.entries()) {
    if (length === 0) continue
    const offset = offsets[length] as number
    symbols[offset] = symbol
    offsets[length] = offset + 1
  }
  return { counts, symbols }
}

const repeated = (length: number, count: number) => Array.from({ length: count }, () => length)
const FIXED = {
  literals: codeOf([...repeated(8, 144), ...repeated(9, 112), ...repeated(7, 24), ...repeated(8, 8)]),
  distances: codeOf(repeated(5, 30)),
}

/**
 * Decodes a zlib stream, and keeps the first `keep` bytes that it inflates to. The time is proportional to the input and to
 * what is kept. Does not compare the checksum.
 *
 * @throws RangeError if the stream is damaged, or inflates to more than `maxSize` bytes
 */
export function decodeZlib(bytes: Uint8Array, from: number, maxSize: number, keep: number): DecodedZlib {
  return new ZlibDecoder(bytes, from, maxSize, keep).decode()
}

class ZlibDecoder {
  readonly #bytes: Uint8Array
  readonly #maxSize: number
  readonly #keep: number
  #start = new Uint8Array(64)
  #kept = 0
  #at: number
  #bits = 0
  #bitCount = 0
  #size = 0

  constructor(bytes: Uint8Array, from: number, maxSize: number, keep: number) {
    this.#bytes = bytes
    // After the two bytes of zlib's header.
    this.#at = from + 2
    this.#maxSize = maxSize
    this.#keep = keep
  }

  decode(): DecodedZlib {
    for (let isLast = false; !isLast; ) {
      isLast = this.#take(1) === 1
      const type = this.#take(2)
      if (type === 0) this.#stored()
      else if (type === 1) this.#coded(FIXED.literals, FIXED.distances)
      else if (type === 2) this.#dynamic()
      else throw damaged()
    }
    const end = this.#at + ADLER_BYTES
    if (end > this.#bytes.length) throw damaged()
    return { end, size: this.#size, start: this.#start.subarray(0, this.#kept) }
  }

  #take(count: number): number {
    while (this.#bitCount < count) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw damaged()
      this.#bits |= byte << this.#bitCount
      this.#bitCount += 8
    }
    const value = this.#bits & ((1 << count) - 1)
    this.#bits >>>= count
    this.#bitCount -= count
    return value
  }

  #symbol({ counts, symbols }: Code): number {
    let [code, first, index] = [0, 0, 0]
    for (let length = 1; length <= MAX_BITS; length++) {
      code |= this.#take(1)
      const count = counts[length] as number
      if (code - count < first) return symbols[index + code - first] as number
      index += count
      first = (first + count) << 1
      code <<= 1
    }
    throw damaged()
  }

  #add(count: number): void {
    this.#size += count
    if (this.#size > this.#maxSize) throw damaged()
  }

  #addByte(byte: number): void {
    if (this.#reserve(1) > 0) this.#start[this.#kept++] = byte
    this.#add(1)
  }

  /** Makes room for as many of the next bytes as are kept, and returns their number. */
  #reserve(count: number): number {
    const added = Math.min(count, this.#keep - this.#kept)
    const needed = this.#kept + added
    if (needed > this.#start.length) {
      const larger = new Uint8Array(Math.min(this.#keep, 2 * needed))
      larger.set(this.#start)
      this.#start = larger
    }
    return added
  }

  #stored(): void {
    this.#bits = 0
    this.#bitCount = 0
    const length = this.#take(16)
    if (this.#take(16) !== (~length & 0xffff) || this.#at + length > this.#bytes.length) throw damaged()
    const added = this.#reserve(length)
    this.#start.set(this.#bytes.subarray(this.#at, this.#at + added), this.#kept)
    this.#kept += added
    this.#at += length
    this.#add(length)
  }

  #coded(literals: Code, distances: Code): void {
    for (;;) {
      const symbol = this.#symbol(literals)
      if (symbol === 256) return
      if (symbol < 256) {
        this.#addByte(symbol)
        continue
      }
      const length = (LENGTHS[symbol - 257] ?? fail()) + this.#take(LENGTH_BITS[symbol - 257] as number)
      const code = this.#symbol(distances)
      const distance = (DISTANCES[code] ?? fail()) + this.#take(DISTANCE_BITS[code] as number)
      if (distance > this.#size) throw damaged()
      const end = this.#kept + this.#reserve(length)
      for (; this.#kept < end; this.#kept++) this.#start[this.#kept] = this.#start[this.#kept - distance] as number
      this.#add(length)
    }
  }

  #dynamic(): void {
    const [literalCount, distanceCount, codeCount] = [this.#take(5) + 257, this.#take(5) + 1, this.#take(4) + 4]
    const codeLengths = repeated(0, 19)
    for (const symbol of CODE_LENGTH_ORDER.slice(0, codeCount)) codeLengths[symbol] = this.#take(3)
    const code = codeOf(codeLengths)
    const lengths: number[] = []
    while (lengths.length < literalCount + distanceCount) {
      const symbol = this.#symbol(code)
      if (symbol < 16) lengths.push(symbol)
      else if (symbol === 16) lengths.push(...repeated(lengths.at(-1) ?? fail(), 3 + this.#take(2)))
      else lengths.push(...repeated(0, symbol === 17 ? 3 + this.#take(3) : 11 + this.#take(7)))
    }
    if (lengths.length > literalCount + distanceCount) throw damaged()
    this.#coded(codeOf(lengths.slice(0, literalCount)), codeOf(lengths.slice(literalCount)))
  }
}

function fail(): never {
  throw damaged()
}

const damaged = () => new RangeError('The stream is damaged, or inflates to more bytes than allowed')
