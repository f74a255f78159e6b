import { crc32 } from '../../util/crc32.ts'
import { indexOfByte, latin1 } from '../../util/native-bytes.ts'
import type { MediaType } from './types.ts'

/** What the structure of a file says about it, without decoding the picture. */
export interface Measured {
  /** In pixels; absent for a document. */
  readonly width?: number
  readonly height?: number
  /** The offset after the last byte that belongs to the image or document. */
  readonly end: number
}

/** Returns the type that the first 16 bytes of a file announce. */
export function announcedType(head: Uint8Array): MediaType | undefined {
  const text = latin1(head, 0, Math.min(head.length, 16))
  if (hasBytes(head, 0, 0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)) return 'image/png'
  if (hasBytes(head, 0, 0xff, 0xd8, 0xff)) return 'image/jpeg'
  if (/^GIF8[79]a/.test(text)) return 'image/gif'
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return 'image/webp'
  return /^%PDF-\d\.\d/.test(text) ? 'application/pdf' : undefined
}

/**
 * Walks the structure of a file of a type from its begin to its end. Linear; pixels are not decoded.
 *
 * @returns what it found, or why the file is not a whole file of that type
 */
export function measureMedia(type: MediaType, bytes: Uint8Array): Measured | string {
  if (announcedType(bytes) !== type) return 'it begins as something else'
  const found = measures[type](bytes)
  if (typeof found === 'string' || found.width === undefined) return found
  return found.width > 0 && found.height !== undefined && found.height > 0 ? found : 'it has no pixels'
}

const measures: Readonly<Record<MediaType, (bytes: Uint8Array) => Measured | string>> = {
  'image/png': measurePng,
  'image/jpeg': measureJpeg,
  'image/gif': measureGif,
  'image/webp': measureWebp,
  'application/pdf': measurePdf,
}

const CUT = 'it is cut off'
const BROKEN = 'its structure is broken'

function measurePng(bytes: Uint8Array): Measured | string {
  const view = viewOf(bytes)
  let size: { width: number; height: number } | undefined
  let hasData = false
  for (let at = 8; ; ) {
    if (at + 12 > bytes.length) return CUT
    const length = view.getUint32(at)
    const end = at + 12 + length
    if (end > bytes.length) return CUT
    if (crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return BROKEN
    const name = latin1(bytes, at + 4, at + 8)
    if (size === undefined) {
      if (name !== 'IHDR' || length !== 13) return BROKEN
      size = { width: view.getUint32(at + 8), height: view.getUint32(at + 12) }
    }
    if (name === 'IDAT') hasData = true
    if (name === 'IEND') return hasData ? { ...size, end } : BROKEN
    at = end
  }
}

function measureJpeg(bytes: Uint8Array): Measured | string {
  const view = viewOf(bytes)
  let size: { width: number; height: number } | undefined
  let hasScan = false
  for (let at = 2; ; ) {
    if (at >= bytes.length) return CUT
    if (bytes[at] !== 0xff) return BROKEN
    const marker = bytes[at + 1]
    if (marker === undefined) return CUT
    // Any number of 0xff may stand before a marker.
    if (marker === 0xff) {
      at += 1
      continue
    }
    at += 2
    if (marker === 0xd9) return size !== undefined && hasScan ? { ...size, end: at } : BROKEN
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) continue
    if (marker < 0xc0 || marker === 0xd8) return BROKEN
    if (at + 2 > bytes.length) return CUT
    const end = at + view.getUint16(at)
    if (end < at + 2) return BROKEN
    if (end > bytes.length) return CUT
    if (marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) {
      if (size !== undefined || end < at + 7) return BROKEN
      size = { height: view.getUint16(at + 3), width: view.getUint16(at + 5) }
    }
    at = end
    if (marker !== 0xda) continue
    hasScan = true
    at = endOfScan(bytes, at)
  }
}

/** Returns the offset of the next marker after compressed data, or the end of the file. */
function endOfScan(bytes: Uint8Array, from: number): number {
  for (let at = indexOfByte(bytes, 0xff, from); at !== -1; at = indexOfByte(bytes, 0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0
    // A stuffed zero, a restart, and fill bytes belong to the data.
    if (next !== 0 && next !== 0xff && !(next >= 0xd0 && next <= 0xd7)) return at
  }
  return bytes.length
}

function measureGif(bytes: Uint8Array): Measured | string {
  if (bytes.length < 13) return CUT
  const view = viewOf(bytes)
  const flags = bytes[10] as number
  let width = view.getUint16(6, true)
  let height = view.getUint16(8, true)
  let hasFrame = false
  for (let at = 13 + colorTable(flags); ; ) {
    const block = bytes[at]
    if (block === undefined) return CUT
    if (block === 0x3b) return hasFrame ? { width, height, end: at + 1 } : BROKEN
    if (block === 0x21) {
      at = endOfBlocks(bytes, at + 2)
    } else if (block === 0x2c) {
      if (at + 10 > bytes.length) return CUT
      hasFrame = true
      // A frame may be larger than the screen that the header announces.
      width = Math.max(width, view.getUint16(at + 1, true) + view.getUint16(at + 5, true))
      height = Math.max(height, view.getUint16(at + 3, true) + view.getUint16(at + 7, true))
      at = endOfBlocks(bytes, at + 11 + colorTable(bytes[at + 9] as number))
    } else {
      return BROKEN
    }
  }
}

function colorTable(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1)
}

/** Returns the offset after a series of blocks that each begin with their length, which a length of 0 ends. */
function endOfBlocks(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.length; ) {
    const length = bytes[at] as number
    at += 1 + length
    if (length === 0) return at
  }
  return bytes.length
}

function measureWebp(bytes: Uint8Array): Measured | string {
  const view = viewOf(bytes)
  const end = 8 + view.getUint32(4, true)
  if (end > bytes.length) return CUT
  let width = 0
  let height = 0
  let hasData = false
  for (let at = 12; at + 8 <= end; ) {
    const name = latin1(bytes, at, at + 4)
    const length = view.getUint32(at + 4, true)
    const data = at + 8
    if (data + length > end) return BROKEN
    const size = sizeInChunk(name, bytes.subarray(data, data + length))
    if (size === null) return BROKEN
    width = Math.max(width, size?.width ?? 0)
    height = Math.max(height, size?.height ?? 0)
    hasData ||= name === 'VP8 ' || name === 'VP8L' || name === 'ANMF'
    at = data + length + (length % 2)
  }
  return hasData ? { width, height, end } : BROKEN
}

/** Returns the size in a chunk of a WebP file; `null` for a broken one, `undefined` for a chunk without a size. */
function sizeInChunk(name: string, data: Uint8Array): { width: number; height: number } | null | undefined {
  const view = viewOf(data)
  const uint24 = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
  if (name === 'VP8X') return data.length < 10 ? null : { width: uint24(4) + 1, height: uint24(7) + 1 }
  if (name === 'ANMF') return data.length < 16 ? null : { width: uint24(6) + 1, height: uint24(9) + 1 }
  if (name === 'VP8 ') {
    if (data.length < 10 || !hasBytes(data, 3, 0x9d, 0x01, 0x2a)) return null
    return { width: view.getUint16(6, true) & 0x3fff, height: view.getUint16(8, true) & 0x3fff }
  }
  if (name !== 'VP8L') return undefined
  if (data.length < 5 || data[0] !== 0x2f) return null
  const bits = view.getUint32(1, true)
  return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
}

function measurePdf(bytes: Uint8Array): Measured | string {
  const tail = latin1(bytes, Math.max(0, bytes.length - 1024))
  if (!/startxref\s+\d+\s+%%EOF/.test(tail)) return CUT
  if (/\/Encrypt\s*(?:<<|\d+\s+\d+\s+R)/.test(latin1(bytes))) return 'it is encrypted'
  return { end: bytes.length }
}

function hasBytes(bytes: Uint8Array, at: number, ...expected: readonly number[]): boolean {
  return expected.every((byte, index) => bytes[at + index] === byte)
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
