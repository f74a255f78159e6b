import { findNativeCrypto, type ModuleHost } from './native-crypto.ts'

/** Returns the id of a git object: SHA-1 over its type, size and bytes, as 40 hex digits. */
export function objectId(type: 'blob' | 'tree' | 'commit' | 'tag', bytes: Uint8Array): string {
  const header = `${type} ${bytes.length}\0`
  // For small objects, one call on a copy is faster than a hash object.
  if (native !== undefined && (native.hash === undefined || bytes.length > COPIED_BYTES)) {
    return native.createHash('sha1').update(header).update(bytes).digest('hex')
  }
  const whole = new Uint8Array(header.length + bytes.length)
  for (let i = 0; i < header.length; i++) whole[i] = header.charCodeAt(i)
  whole.set(bytes, header.length)
  return native?.hash?.('sha1', whole, 'hex') ?? sha1Portable(whole)
}

/** Size up to which objects are copied. */
const COPIED_BYTES = 64 * 1024

/** SHA-1 in JavaScript, for platforms without a synchronous native one. For git object ids only. */
export function sha1Portable(bytes: Uint8Array): string {
  const length = bytes.length
  const padded = new Uint8Array(((length + 8) >> 6) * 64 + 64)
  padded.set(bytes)
  padded[length] = 0x80
  const view = new DataView(padded.buffer)
  view.setUint32(padded.length - 8, Math.floor(length / 0x2000_0000))
  view.setUint32(padded.length - 4, length << 3)
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0)
  const w = new Int32Array(80)
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(at + 4 * i)
    for (let i = 16; i < 80; i++) {
      const x = (w[i - 3] as number) ^ (w[i - 8] as number) ^ (w[i - 14] as number) ^ (w[i - 16] as number)
      w[i] = (x << 1) | (x >>> 31)
    }
    let [a, b, c, d, e] = state as unknown as [number, number, number, number, number]
    for (let i = 0; i < 80; i++) {
      const f =
        i < 20
          ? (d ^ (b & (c ^ d))) + 0x5a827999
          : i < 40
            ? (b ^ c ^ d) + 0x6ed9eba1
            : i < 60
              ? ((b & c) | (d & (b | c))) + 0x8f1bbcdc
              : (b ^ c ^ d) + 0xca62c1d6
      const next = (((a << 5) | (a >>> 27)) + f + e + (w[i] as number)) | 0
      e = d
      d = c
      c = (b << 30) | (b >>> 2)
      b = a
      a = next
    }
    state[0] = (state[0] as number) + a
    state[1] = (state[1] as number) + b
    state[2] = (state[2] as number) + c
    state[3] = (state[3] as number) + d
    state[4] = (state[4] as number) + e
  }
  let hex = ''
  for (const word of state) hex += (word >>> 0).toString(16).padStart(8, '0')
  return hex
}

const native = findNativeCrypto((globalThis as { process?: ModuleHost }).process, 'sha1', sha1Portable)
