import { bytesOfText, textOfBytes } from '../byte-encoding.ts'

/** Encodes a string as Node's `Buffer.from` does: characters outside of base64 and hex are skipped or end the text. */
export function encode(content: string, encoding: string): Uint8Array {
  if (encoding === 'base64' || encoding === 'base64url') {
    const plain = content
      .replace(/[^A-Za-z0-9+/_-]/g, '')
      .replaceAll('-', '+')
      .replaceAll('_', '/')
    return bytesOfText(plain.length % 4 === 1 ? plain.slice(0, -1) : plain, 'base64')
  }
  if (encoding === 'hex') {
    const [pairs] = /^(?:[0-9a-f]{2})*/i.exec(content) as RegExpExecArray
    return bytesOfText(pairs, 'hex')
  }
  if (encoding !== 'utf16le') return bytesOfText(content, encoding)
  const bytes = new Uint8Array(content.length * 2)
  for (let i = 0; i < content.length; i++) {
    const unit = content.charCodeAt(i)
    bytes[i * 2] = unit & 255
    bytes[i * 2 + 1] = unit >> 8
  }
  return bytes
}

/** Decodes bytes as Node's `Buffer.toString` does. */
export function decode(content: Uint8Array, encoding: string): string {
  if (encoding === 'utf16le') return new TextDecoder('utf-16le', { ignoreBOM: true }).decode(content)
  if (encoding === 'base64url') {
    return textOfBytes(content, 'base64')
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/(?<!=)=+$/, '')
  }
  if (encoding === 'ascii') return textOfBytes(sevenBits(content), 'latin1')
  return textOfBytes(content, encoding)
}

function sevenBits(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte) => byte & 127)
}
