import { findByte, findByteBackwards } from './find-bytes.ts'

const LF = 0x0a
const CR = 0x0d

/** The start of the line that contains offset `at`. `floor` is the start of a line at or before it. */
export function lineStartAt(bytes: Uint8Array, at: number, floor: number): number {
  const near = Math.max(floor, at - 96)
  for (let start = at; start > near; start--) if (bytes[start - 1] === LF) return start
  return near === floor ? floor : Math.max(floor, findByteBackwards(bytes, LF, near - 1) + 1)
}

/** The offset of the line feed that ends the line of offset `at`, or the end of the bytes. */
export function lineFeedAt(bytes: Uint8Array, at: number): number {
  // Most lines are short: a native call costs more than searching them.
  const near = Math.min(bytes.length, at + 96)
  for (let i = at; i < near; i++) if (bytes[i] === LF) return i
  if (near === bytes.length) return near
  const lineFeed = findByte(bytes, LF, near)
  return lineFeed === -1 ? bytes.length : lineFeed
}

/** The end of a line without its line end, from the start of the line and the result of {@link lineFeedAt}. */
export function lineEndBefore(bytes: Uint8Array, lineStart: number, lineFeed: number): number {
  return lineFeed < bytes.length && lineFeed > lineStart && bytes[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed
}

/** The start of the first line, after a UTF-8 byte order mark if there is one. */
export function firstLineStart(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}
