import { codedError, decode, encode } from './host.js'

/** Other names of the encodings. */
const aliases = new Map([
  ['utf-8', 'utf8'],
  ['binary', 'latin1'],
  ['ucs2', 'utf16le'],
  ['ucs-2', 'utf16le'],
  ['utf-16le', 'utf16le'],
])
const encodings = new Set(['utf8', 'latin1', 'ascii', 'hex', 'base64', 'base64url', 'utf16le'])

/**
 * Returns the usual name of an encoding; UTF-8 is the default.
 *
 * @param {unknown} name
 * @throws TypeError `ERR_UNKNOWN_ENCODING`
 */
function encodingOf(name) {
  const lower = String(name ?? 'utf8').toLowerCase()
  const encoding = aliases.get(lower) ?? lower
  if (!encodings.has(encoding)) throw codedError(TypeError, 'ERR_UNKNOWN_ENCODING', `Unknown encoding: ${name}`)
  return encoding
}

/**
 * Copies the bytes of a view to a buffer of their own.
 *
 * @param {ArrayBufferView} view
 */
export function bytesOf(view) {
  return /** @type {ArrayBuffer} */ (view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength))
}

/** Node's Buffer. @extends {Uint8Array<ArrayBuffer>} */
export class Buffer extends Uint8Array {
  /**
   * @param {unknown} value a string, an ArrayBuffer, an array, a view, or the JSON of a Buffer
   * @param {unknown} [encodingOrOffset]
   * @param {number} [length]
   */
  static from(value, encodingOrOffset, length) {
    if (typeof value === 'string') return new Buffer(encode(value, encodingOf(encodingOrOffset)))
    if (value instanceof ArrayBuffer) {
      const offset = Number(encodingOrOffset || 0)
      return new Buffer(value, offset, length ?? value.byteLength - offset)
    }
    let list = /** @type {ArrayLike<number> & { type?: string, data?: ArrayLike<number> }} */ (value)
    if (list && list.type === 'Buffer' && Array.isArray(list.data)) list = list.data
    const copy = new Buffer(list.length)
    for (let i = 0; i < list.length; i++) copy[i] = list[i]
    return copy
  }

  /**
   * @param {number} size
   * @param {string | number} [fill]
   * @param {string} [encoding]
   */
  static alloc(size, fill, encoding) {
    const buffer = new Buffer(size)
    if (fill !== undefined && fill !== 0) buffer.fill(fill, 0, size, encoding)
    return buffer
  }

  /** @param {number} size */
  static allocUnsafe(size) {
    return new Buffer(size)
  }

  /** @param {unknown} value */
  static isBuffer(value) {
    return value instanceof Buffer
  }

  /** @param {unknown} name */
  static isEncoding(name) {
    try {
      encodingOf(name)
      return true
    } catch {
      return false
    }
  }

  /**
   * @param {string | ArrayBuffer | ArrayBufferView} value
   * @param {string} [encoding]
   */
  static byteLength(value, encoding) {
    return typeof value === 'string' ? encode(value, encodingOf(encoding)).byteLength : value.byteLength
  }

  /**
   * @param {readonly Uint8Array[]} list
   * @param {number} [total]
   */
  static concat(list, total = list.reduce((sum, part) => sum + part.length, 0)) {
    const whole = new Buffer(total)
    let offset = 0
    for (const part of list) {
      whole.set(part.subarray(0, Math.max(0, total - offset)), offset)
      offset += part.length
      if (offset >= total) break
    }
    return whole
  }

  /**
   * @param {Uint8Array} a
   * @param {Uint8Array} b
   */
  static compare(a, b) {
    const shorter = Math.min(a.length, b.length)
    for (let i = 0; i < shorter; i++) if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1
    return Math.sign(a.length - b.length)
  }

  /**
   * @param {unknown} [encoding]
   * @param {number} [start]
   * @param {number} [end]
   */
  toString(encoding, start = 0, end = this.length) {
    return decode(bytesOf(this.subarray(start, end)), encodingOf(encoding))
  }

  toJSON() {
    return { type: 'Buffer', data: Array.from(this) }
  }

  /** @param {Uint8Array} other */
  equals(other) {
    return Buffer.compare(this, other) === 0
  }

  /** @param {Uint8Array} other */
  compare(other) {
    return Buffer.compare(this, other)
  }

  /**
   * Writes a string. Offset and length may be left out. Returns the number of bytes written.
   *
   * @param {string} text
   * @param {string | number} [offset]
   * @param {string | number} [length]
   * @param {string} [encoding]
   * @returns {number}
   */
  write(text, offset, length, encoding) {
    if (typeof offset === 'string') return this.write(text, 0, undefined, offset)
    if (typeof length === 'string') return this.write(text, offset, undefined, length)
    const start = offset || 0
    const bytes = Buffer.from(text, encoding)
    const count = Math.min(bytes.length, this.length - start, length ?? Number.POSITIVE_INFINITY)
    this.set(bytes.subarray(0, count), start)
    return count
  }

  /**
   * Returns the number of bytes copied.
   *
   * @param {Uint8Array} target
   * @param {number} [targetStart]
   * @param {number} [start]
   * @param {number} [end]
   */
  copy(target, targetStart = 0, start = 0, end = this.length) {
    const part = this.subarray(start, end).subarray(0, target.length - targetStart)
    target.set(part, targetStart)
    return part.length
  }

  /**
   * A view of the same bytes, unlike `slice` of a Uint8Array.
   *
   * @param {number} [start]
   * @param {number} [end]
   */
  slice(start, end) {
    return this.subarray(start, end)
  }

  /**
   * @param {string | number} value
   * @param {number} [start]
   * @param {number} [end]
   * @param {string} [encoding]
   */
  fill(value, start, end, encoding) {
    if (typeof value !== 'string') return super.fill(value, start, end)
    const bytes = Buffer.from(value, encoding)
    if (bytes.length === 0) return super.fill(0, start, end)
    const from = start || 0
    for (let i = from; i < (end ?? this.length); i++) this[i] = bytes[(i - from) % bytes.length]
    return this
  }

  /**
   * @param {string | number | Uint8Array} value
   * @param {number} [from]
   * @param {string} [encoding]
   */
  indexOf(value, from, encoding) {
    if (typeof value === 'number') return super.indexOf(value, from)
    const bytes = typeof value === 'string' ? Buffer.from(value, encoding) : value
    for (let start = from || 0; start + bytes.length <= this.length; start++) {
      if (bytes.every((byte, i) => this[start + i] === byte)) return start
    }
    return -1
  }

  /**
   * @param {string | number | Uint8Array} value
   * @param {number} [from]
   * @param {string} [encoding]
   */
  includes(value, from, encoding) {
    return this.indexOf(value, from, encoding) !== -1
  }
}

/**
 * A number type by Node's name, with its size and DataView's methods.
 *
 * @typedef {[
 *   name: string,
 *   size: number,
 *   read: (view: DataView, offset: number, isLittle: boolean) => number | bigint,
 *   write: (view: DataView, offset: number, value: never, isLittle: boolean) => void,
 * ]} NumberType
 */

/** @type {readonly NumberType[]} */
const numberTypes = [
  ['UInt8', 1, (view, at) => view.getUint8(at), (view, at, value) => view.setUint8(at, value)],
  ['Int8', 1, (view, at) => view.getInt8(at), (view, at, value) => view.setInt8(at, value)],
  ['UInt16', 2, (view, at, le) => view.getUint16(at, le), (view, at, value, le) => view.setUint16(at, value, le)],
  ['Int16', 2, (view, at, le) => view.getInt16(at, le), (view, at, value, le) => view.setInt16(at, value, le)],
  ['UInt32', 4, (view, at, le) => view.getUint32(at, le), (view, at, value, le) => view.setUint32(at, value, le)],
  ['Int32', 4, (view, at, le) => view.getInt32(at, le), (view, at, value, le) => view.setInt32(at, value, le)],
  ['Float', 4, (view, at, le) => view.getFloat32(at, le), (view, at, value, le) => view.setFloat32(at, value, le)],
  ['Double', 8, (view, at, le) => view.getFloat64(at, le), (view, at, value, le) => view.setFloat64(at, value, le)],
  ['BigInt64', 8, (view, at, le) => view.getBigInt64(at, le), (view, at, value, le) => view.setBigInt64(at, value, le)],
  [
    'BigUInt64',
    8,
    (view, at, le) => view.getBigUint64(at, le),
    (view, at, value, le) => view.setBigUint64(at, value, le),
  ],
]

/** @param {Buffer} buffer */
const viewOf = ({ buffer, byteOffset, byteLength }) => new DataView(buffer, byteOffset, byteLength)

for (const [name, size, read, write] of numberTypes) {
  for (const order of size === 1 ? [''] : ['LE', 'BE']) {
    const isLittle = order === 'LE'
    Object.assign(Buffer.prototype, {
      /**
       * @this {Buffer}
       * @param {number} [offset]
       */
      [`read${name}${order}`](offset = 0) {
        return read(viewOf(this), offset, isLittle)
      },
      /**
       * @this {Buffer}
       * @param {never} value
       * @param {number} [offset]
       */
      [`write${name}${order}`](value, offset = 0) {
        write(viewOf(this), offset, value, isLittle)
        return offset + size
      },
    })
  }
}

/** The module `buffer`. */
export const bufferModule = { Buffer, constants: { MAX_LENGTH: 2147483647 } }
