import { Buffer, bytesOf } from './buffer.js'
import { sha256 } from './host.js'

/** @param {number} size */
function randomBytes(size) {
  const bytes = Buffer.alloc(size)
  for (let i = 0; i < size; i++) bytes[i] = Math.floor(Math.random() * 256)
  return bytes
}

/** A hash of SHA-256, the only one here. */
class Hash {
  /** @type {Buffer[]} */
  #parts = []

  /**
   * @param {string | Uint8Array} data
   * @param {string} [encoding]
   */
  update(data, encoding) {
    this.#parts.push(typeof data === 'string' ? Buffer.from(data, encoding) : Buffer.from(data))
    return this
  }

  /** @param {string} [encoding] */
  digest(encoding) {
    const bytes = Buffer.from(sha256(bytesOf(Buffer.concat(this.#parts))), 'hex')
    return encoding ? bytes.toString(encoding) : bytes
  }
}

/** The module `crypto`. Its random numbers are not fit for secrets. */
export const crypto = {
  /** @param {unknown} name */
  createHash(name) {
    if (String(name).toLowerCase().replace('-', '') !== 'sha256') {
      throw new Error(`Only sha256 is available in this shell, not ${name}`)
    }
    return new Hash()
  },
  randomBytes,
  /**
   * @param {number} min the maximum, if it is the only argument
   * @param {number} [max] exclusive
   * @returns {number}
   */
  randomInt(min, max) {
    return max === undefined ? crypto.randomInt(0, min) : min + Math.floor(Math.random() * (max - min))
  },
  randomUUID() {
    const bytes = randomBytes(16)
    // Version 4 and the variant of RFC 9562.
    bytes[6] = (bytes[6] & 0x0f) | 0x40
    bytes[8] = (bytes[8] & 0x3f) | 0x80
    return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
  },
}
