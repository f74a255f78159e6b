/**
 * The bytes as a string with one unit per byte. ASCII bytes are exact, others give some non-ASCII unit: meant for finding
 * ASCII in bytes with the engine's fast string search, not for showing.
 */
export function latin1(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return methods.latin1Slice.call(bytes, start, end)
}

/** The bytes as a string with exactly one unit per byte. */
export function byteText(bytes: Uint8Array): string {
  return native === undefined ? exactText(bytes) : native.latin1Slice.call(bytes, 0, bytes.length)
}

/** Where a byte first occurs at or after `from`, or -1. */
export function indexOfByte(bytes: Uint8Array, byte: number, from = 0): number {
  return methods.indexOf.call(bytes, byte, from)
}

/** What is used of Node's Buffer. */
export interface ByteMethods {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string
  readonly indexOf: (this: Uint8Array, byte: number, from: number) => number
}

/** Node's Buffer works on any bytes without a view, up to 40 times faster; other platforms have none, or a weaker one. */
export function findNativeMethods(buffer: { prototype: Partial<ByteMethods> } | undefined): ByteMethods | undefined {
  try {
    const { latin1Slice, indexOf } = buffer?.prototype ?? {}
    const sample = Uint8Array.of(0x61, 0x62, 0xe9)
    if (latin1Slice?.call(sample, 1, 3) !== 'b\u00e9' || indexOf?.call(sample, 0xe9, 1) !== 2) return undefined
    return { latin1Slice, indexOf }
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder('latin1')

/** The same on any platform; a decoder reads a few bytes as other units than Node does. */
export const portableMethods: ByteMethods = {
  latin1Slice(start, end) {
    return decoder.decode(this.subarray(start, end))
  },
  indexOf(byte, from) {
    return Uint8Array.prototype.indexOf.call(this, byte, from)
  },
}

/** {@link byteText} on any platform. An argument list has a limit. */
export function exactText(bytes: Uint8Array): string {
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 8192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8192)))
  return parts.join('')
}

const native = findNativeMethods((globalThis as { Buffer?: { prototype: Partial<ByteMethods> } }).Buffer)
const methods = native ?? portableMethods
