/** Converts between bytes and the strings in which just-bash carries them. */

import { byteText, fromByteText } from '../../util/native-bytes.ts'

const utf8 = new TextEncoder()
const text = new TextDecoder('utf-8', { ignoreBOM: true })

/** Encodes a string; in `binary` and `latin1`, each character is a byte. */
export function bytesOfText(content: string, encoding: string): Uint8Array {
  if (encoding === 'binary' || encoding === 'latin1' || encoding === 'ascii') {
    return fromByteText(content)
  }
  if (encoding === 'base64') return bytesOfText(atob(content), 'binary')
  if (encoding === 'hex') return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  return utf8.encode(content)
}

export function textOfBytes(bytes: Uint8Array, encoding: string): string {
  if (encoding === 'binary' || encoding === 'latin1' || encoding === 'ascii') {
    return byteText(bytes)
  }
  if (encoding === 'base64') return btoa(textOfBytes(bytes, 'binary'))
  if (encoding === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return text.decode(bytes)
}
