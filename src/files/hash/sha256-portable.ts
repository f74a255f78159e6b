/**
 * SHA-256 in JavaScript, as lowercase hex, for platforms without a synchronous native one. Not constant-time: for content
 * versions, not for secrets.
 */
export function sha256Portable(bytes: Uint8Array): string {
  const hash = createSha256Portable()
  hash.update(bytes)
  return hash.digest()
}

/** A hash of bytes in parts. */
export interface IncrementalHash {
  /** Adds bytes to what is hashed. */
  update(bytes: Uint8Array): void
  /** Returns lowercase hex. Call nothing on the hash afterwards. */
  digest(): string
}

/** Creates a {@link sha256Portable} of bytes in parts. */
export function createSha256Portable(): IncrementalHash {
  const state = new Int32Array(initialState)
  // Bytes that do not fill a block. Two blocks long, because the padding may need both.
  const tail = new Uint8Array(2 * BLOCK)
  let tailLength = 0
  let length = 0
  return {
    update(bytes) {
      length += bytes.length
      let at = 0
      if (tailLength > 0) {
        at = Math.min(BLOCK - tailLength, bytes.length)
        tail.set(bytes.subarray(0, at), tailLength)
        tailLength += at
        if (tailLength < BLOCK) return
        compress(state, tail, 0)
      }
      for (; at + BLOCK <= bytes.length; at += BLOCK) compress(state, bytes, at)
      tail.set(bytes.subarray(at))
      tailLength = bytes.length - at
    },
    digest() {
      // Padding: a one bit, zeros, and the length in bits as a 64-bit big-endian number.
      const end = tailLength < BLOCK - 8 ? BLOCK : 2 * BLOCK
      tail.fill(0, tailLength)
      tail[tailLength] = 0x80
      const view = new DataView(tail.buffer)
      view.setUint32(end - 8, Math.floor(length / 0x2000_0000))
      view.setUint32(end - 4, length << 3)
      for (let at = 0; at < end; at += BLOCK) compress(state, tail, at)
      let hex = ''
      for (const word of state) hex += (word >>> 0).toString(16).padStart(8, '0')
      return hex
    },
  }
}

const BLOCK = 64

/** Returns the first 32 bits of the fractional parts of `root(p)` for the first primes (constants of FIPS 180-4). */
function primeConstants(count: number, root: (prime: number) => number): Int32Array {
  const constants = new Int32Array(count)
  for (let index = 0, candidate = 2; index < count; candidate++) {
    let divisor = 2
    while (divisor * divisor <= candidate && candidate % divisor !== 0) divisor++
    if (divisor * divisor > candidate) constants[index++] = (root(candidate) % 1) * 0x1_0000_0000
  }
  return constants
}

const initialState = primeConstants(8, Math.sqrt)
const roundConstants = primeConstants(64, Math.cbrt)

/** The message schedule. Shared, because hashing is synchronous. */
const schedule = new Int32Array(64)

function compress(state: Int32Array, bytes: Uint8Array, at: number): void {
  const w = schedule
  for (let i = 0; i < 16; i++, at += 4) {
    // biome-ignore format: the four bytes of a word are easier to compare on one line
    w[i] = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15] as number
    const y = w[i - 2] as number
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3)
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10)
    w[i] = ((w[i - 16] as number) + s0 + (w[i - 7] as number) + s1) | 0
  }
  let a = state[0] as number
  let b = state[1] as number
  let c = state[2] as number
  let d = state[3] as number
  let e = state[4] as number
  let f = state[5] as number
  let g = state[6] as number
  let h = state[7] as number
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const t1 = (h + s1 + (g ^ (e & (f ^ g))) + (roundConstants[i] as number) + (w[i] as number)) | 0
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    const t2 = (s0 + ((a & b) | (c & (a | b)))) | 0
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  state[0] = (state[0] as number) + a
  state[1] = (state[1] as number) + b
  state[2] = (state[2] as number) + c
  state[3] = (state[3] as number) + d
  state[4] = (state[4] as number) + e
  state[5] = (state[5] as number) + f
  state[6] = (state[6] as number) + g
  state[7] = (state[7] as number) + h
}
