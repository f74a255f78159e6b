import { concatBytes } from '../util/bytes.ts'
import { byteText, fromByteText } from '../util/native-bytes.ts'

/**
 * Decodes a name. A byte that is not part of UTF-8 becomes a lone surrogate, U+DC80 to U+DCFF, as in Python's file names. A
 * workspace has no path with such a name, names of different bytes stay different, and {@link encodeName} restores the bytes.
 */
export function decodeName(bytes: Uint8Array): string {
  const name = lenient.decode(bytes)
  if (!name.includes('\ufffd')) return name
  return byteText(bytes).replace(SEQUENCES, (sequence) => {
    try {
      return strict.decode(fromByteText(sequence))
    } catch {
      return sequence.replace(/[\x80-\xff]/g, (byte) => String.fromCharCode(0xdc00 + byte.charCodeAt(0)))
    }
  })
}

/** Returns the bytes of a name: the inverse of {@link decodeName}. */
export function encodeName(name: string): Uint8Array {
  if (!ESCAPED.test(name)) return encoder.encode(name)
  const parts = name.split(ESCAPED)
  return concatBytes(
    parts.map((part) => (ESCAPED.test(part) ? Uint8Array.of(part.charCodeAt(0) & 0xff) : encoder.encode(part))),
  )
}

/** Bytes outside ASCII: sequences with the length that their first byte announces, and every other byte. */
const SEQUENCES = /[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g

/** With `u`, the second half of a pair does not match. */
const ESCAPED = /([\udc80-\udcff])/u

const encoder = new TextEncoder()
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
