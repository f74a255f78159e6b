/** Writes numbers, texts and bytes one after another. The target must be long enough. */
export interface Writer {
  /** Offset of the next value. */
  at: number
  u8(value: number): void
  u16(value: number): void
  f64(value: number): void
  /** At most 65,535 bytes of UTF-8. */
  text(value: string): void
  bytes(value: Uint8Array): void
  /** Returns the next bytes, to be filled later. */
  room(length: number): Uint8Array
}

export function openWriter(target: Uint8Array, at: number): Writer {
  const view = new DataView(target.buffer, target.byteOffset, target.byteLength)
  return {
    at,
    u8(value) {
      view.setUint8(this.at, value)
      this.at += 1
    },
    u16(value) {
      view.setUint16(this.at, value, true)
      this.at += 2
    },
    f64(value) {
      view.setFloat64(this.at, value, true)
      this.at += 8
    },
    text(value) {
      const start = this.at + 2
      let ascii = 0
      for (; ascii < value.length && ascii < SHORT; ascii++) {
        const code = value.charCodeAt(ascii)
        if (code > 127) break
        target[start + ascii] = code
      }
      if (ascii === value.length) {
        this.u16(ascii)
        this.at += ascii
        return
      }
      const { written } = encoder.encodeInto(value, target.subarray(this.at + 2))
      this.u16(written)
      this.at += written
    },
    bytes(value) {
      this.room(value.length).set(value)
    },
    room(length) {
      this.at += length
      return target.subarray(this.at - length, this.at)
    },
  }
}

/** Reads the output of a {@link Writer}. Throws a RangeError at the end. */
export interface Reader {
  /** Offset of the next value. */
  readonly at: number
  isAtEnd(): boolean
  skip(length: number): void
  u8(): number
  u16(): number
  f64(): number
  text(): string
  /** A copy. */
  bytes(length: number): Uint8Array
}

export function openReader(source: Uint8Array): Reader {
  const view = new DataView(source.buffer, source.byteOffset, source.byteLength)
  let at = 0
  const take = (length: number): number => {
    const from = at
    if (!(length >= 0) || from + length > source.length) throw new RangeError('The record ends too early')
    at += length
    return from
  }
  return {
    get at() {
      return at
    },
    isAtEnd: () => at === source.length,
    skip: (length) => void take(length),
    u8: () => view.getUint8(take(1)),
    u16: () => view.getUint16(take(2), true),
    f64: () => view.getFloat64(take(8), true),
    text() {
      const length = view.getUint16(take(2), true)
      const from = take(length)
      const part = source.subarray(from, from + length)
      // A decoder of a browser costs more than short texts do.
      if (length > SHORT || !part.every(isAscii)) return decoder.decode(part)
      return String.fromCharCode.apply(null, part as unknown as number[])
    },
    bytes(length) {
      const from = take(length)
      return source.slice(from, from + length)
    },
  }
}

const isAscii = (byte: number): boolean => byte < 128

/** For ASCII text up to this length, a loop is faster than a call of the encoder. */
const SHORT = 128

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })
