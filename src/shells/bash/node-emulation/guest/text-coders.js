import { bytesOf } from './buffer.js'
import { decode, encode } from './host.js'

export class TextEncoder {
  get encoding() {
    return 'utf-8'
  }

  /** @param {unknown} [text] */
  encode(text = '') {
    return new Uint8Array(encode(String(text), 'utf8'))
  }
}

export class TextDecoder {
  /** @param {unknown} [label] */
  constructor(label = 'utf-8') {
    this.encoding = String(label).toLowerCase()
  }

  /** @param {ArrayBuffer | ArrayBufferView} [bytes] */
  decode(bytes) {
    if (bytes === undefined) return ''
    const encoding = this.encoding === 'latin1' ? 'latin1' : this.encoding === 'utf-16le' ? 'utf16le' : 'utf8'
    const text = decode(bytes instanceof ArrayBuffer ? bytes : bytesOf(bytes), encoding)
    return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
  }
}
