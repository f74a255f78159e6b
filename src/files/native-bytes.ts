/**
 * The bytes as a string with one unit per byte. ASCII bytes are exact, others give some non-ASCII unit: meant for finding
 * ASCII in bytes with the engine's fast string search, not for showing.
 */
export function latin1(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return native === undefined ? decoder.decode(bytes.subarray(start, end)) : native.latin1Slice.call(bytes, start, end)
}

/** The bytes as a string with exactly one unit per byte. */
export function byteText(bytes: Uint8Array): string {
  if (native !== undefined) return native.latin1Slice.call(bytes, 0, bytes.length)
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 8192) parts.push(String.fromCharCode(...bytes.subarray(at, at + 8192)))
  return parts.join('')
}

/** Where a byte first occurs at or after `from`, or -1. */
export function indexOfByte(bytes: Uint8Array, byte: number, from = 0): number {
  return native === undefined ? bytes.indexOf(byte, from) : native.indexOf.call(bytes, byte, from)
}

interface NativeMethods {
  readonly latin1Slice: (this: Uint8Array, start: number, end: number) => string
  readonly indexOf: (this: Uint8Array, byte: number, from: number) => number
}

const decoder = new TextDecoder('latin1')

const native = findNativeMethods()

/** Node's Buffer works on any bytes without a view, up to 40 times faster; other platforms have none, or a weaker one. */
function findNativeMethods(): NativeMethods | undefined {
  try {
    const { Buffer } = globalThis as { Buffer?: { prototype: Partial<NativeMethods> } }
    const { latin1Slice, indexOf } = Buffer?.prototype ?? {}
    const sample = Uint8Array.of(0x61, 0x62, 0xe9)
    if (latin1Slice?.call(sample, 1, 3) !== 'b\u00e9' || indexOf?.call(sample, 0xe9, 1) !== 2) return undefined
    return { latin1Slice, indexOf }
  } catch {
    return undefined
  }
}
