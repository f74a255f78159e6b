/** Bytes as just-bash carries them in strings. */

const CHUNK = 8192
const utf8 = new TextEncoder()
const text = new TextDecoder('utf-8', { ignoreBOM: true })

/** `binary` and `latin1`: one unit per byte. */
export function bytesOfText(content: string, encoding: string): Uint8Array {
  if (encoding === 'binary' || encoding === 'latin1' || encoding === 'ascii') {
    const bytes = new Uint8Array(content.length)
    for (let i = 0; i < content.length; i++) bytes[i] = content.charCodeAt(i)
    return bytes
  }
  if (encoding === 'base64') return bytesOfText(atob(content), 'binary')
  if (encoding === 'hex') return Uint8Array.from(content.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
  return utf8.encode(content)
}

export function textOfBytes(bytes: Uint8Array, encoding: string): string {
  if (encoding === 'binary' || encoding === 'latin1' || encoding === 'ascii') {
    let units = ''
    for (let i = 0; i < bytes.length; i += CHUNK) units += String.fromCharCode(...bytes.subarray(i, i + CHUNK))
    return units
  }
  if (encoding === 'base64') return btoa(textOfBytes(bytes, 'binary'))
  if (encoding === 'hex') return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return text.decode(bytes)
}
