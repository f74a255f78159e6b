import type { CodePoints } from './code-points.ts'

/** A range of UTF-8 sequences of equal length: the range `[lo, hi]` of the byte at each position. */
export type ByteSequence = readonly (readonly [lo: number, hi: number])[]

/** The UTF-8 encodings of a set, in ascending order. Surrogates have no encoding. */
export function utf8Sequences(set: CodePoints): ByteSequence[] {
  const sequences: ByteSequence[] = []
  for (let i = 0; i < set.length; i += 2) split(set[i] as number, set[i + 1] as number, sequences)
  return sequences
}

/** Splits a range until both ends are encoded in the same number of bytes and each byte position covers one range. */
function split(lo: number, hi: number, out: ByteSequence[]): void {
  if (lo > hi) return
  if (lo <= 0xdfff && hi >= 0xd800) {
    split(lo, 0xd7ff, out)
    split(0xe000, hi, out)
    return
  }
  for (const last of [0x7f, 0x7ff, 0xffff]) {
    if (lo <= last && hi > last) {
      split(lo, last, out)
      split(last + 1, hi, out)
      return
    }
  }
  if (hi > 0x7f) {
    for (let bits = 6; bits <= 18; bits += 6) {
      const mask = (1 << bits) - 1
      if (lo >> bits === hi >> bits) continue
      if ((lo & mask) !== 0) {
        split(lo, lo | mask, out)
        split((lo | mask) + 1, hi, out)
        return
      }
      if ((hi & mask) !== mask) {
        split(lo, (hi & ~mask) - 1, out)
        split(hi & ~mask, hi, out)
        return
      }
    }
  }
  const from = encode(lo)
  const to = encode(hi)
  out.push(from.map((byte, i) => [byte, to[i] as number]))
}

function encode(codePoint: number): number[] {
  if (codePoint < 0x80) return [codePoint]
  if (codePoint < 0x800) return [0xc0 | (codePoint >> 6), 0x80 | (codePoint & 63)]
  if (codePoint < 0x10000) return [0xe0 | (codePoint >> 12), 0x80 | ((codePoint >> 6) & 63), 0x80 | (codePoint & 63)]
  return [
    0xf0 | (codePoint >> 18),
    0x80 | ((codePoint >> 12) & 63),
    0x80 | ((codePoint >> 6) & 63),
    0x80 | (codePoint & 63),
  ]
}
