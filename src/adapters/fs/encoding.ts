import { argumentError, valueError } from './errors.ts'

/** Options that name an encoding. */
export type EncodingOption = string | null | undefined | { readonly encoding?: string | null | undefined }

/** An encoding of texts. */
export type FsEncoding =
  | ('utf8' | 'utf-8' | 'utf16le' | 'utf-16le' | 'ucs2' | 'ucs-2')
  | ('latin1' | 'binary' | 'ascii' | 'hex' | 'base64' | 'base64url')

/** The part of Node's `Buffer` that is used where it exists. */
interface BufferClass {
  from(bytes: ArrayBufferLike, start: number, length: number): Uint8Array & { toString(encoding: string): string }
  from(text: string, encoding: string): Uint8Array
  alloc(size: number): Uint8Array
}

const { Buffer } = globalThis as { Buffer?: BufferClass }

/** Returns the encoding that options name. */
export function encodingOf(options: EncodingOption): string | undefined {
  const encoding = typeof options === 'string' ? options : options?.encoding
  if (encoding === undefined || encoding === null || encoding === 'buffer') return undefined
  const name = String(encoding).toLowerCase()
  if (names.has(name)) return names.get(name)
  throw valueError('encoding', encoding, 'is invalid encoding')
}

const names: ReadonlyMap<string, string> = new Map([
  ...['utf8', 'utf-8'].map((name) => [name, 'utf8'] as const),
  ...['latin1', 'binary'].map((name) => [name, 'latin1'] as const),
  ...['utf16le', 'utf-16le', 'ucs2', 'ucs-2'].map((name) => [name, 'utf16le'] as const),
  ...['ascii', 'hex', 'base64', 'base64url'].map((name) => [name, name] as const),
])

/** Returns bytes as Node does: a `Buffer` where there is one, or a text in an encoding. */
export function decoded(bytes: Uint8Array, encoding: string | undefined): Uint8Array | string {
  if (encoding === 'utf8') return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes)
  const buffer = Buffer?.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (encoding === undefined) return buffer ?? bytes
  if (buffer !== undefined) return buffer.toString(encoding)
  throw argumentError('encoding', "'utf8', because there is no Buffer", encoding)
}

/** Creates a `Buffer` where there is one, and other bytes elsewhere. */
export function emptyBuffer(size: number): Uint8Array {
  return Buffer?.alloc(size) ?? new Uint8Array(size)
}

/** Returns the bytes of what a program writes. */
export function encoded(data: unknown, encoding: string | undefined): Uint8Array {
  if (typeof data === 'string') {
    if (encoding === undefined || encoding === 'utf8') return new TextEncoder().encode(data)
    if (Buffer !== undefined) return Buffer.from(data, encoding)
    throw argumentError('encoding', "'utf8', because there is no Buffer", encoding)
  }
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice()
  throw argumentError('data', 'of type string or an instance of Buffer, TypedArray, or DataView', data)
}

/** Returns a name in the encoding that options ask for. */
export function nameIn(options: EncodingOption, name: string): unknown {
  const asked = typeof options === 'string' ? options : options?.encoding
  const encoding = encodingOf(options)
  if (asked !== 'buffer' && (encoding === undefined || encoding === 'utf8')) return name
  return decoded(new TextEncoder().encode(name), encoding)
}
