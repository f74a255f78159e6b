import { findByte, findByteBackwards } from './find-bytes.ts'

const LF = 0x0a
const CR = 0x0d

/** Where the line that holds offset `at` starts; `floor` is the start of some line at or before it. */
export function lineStartAt(bytes: Uint8Array, at: number, floor: number): number {
  const near = Math.max(floor, at - 96)
  for (let start = at; start > near; start--) if (bytes[start - 1] === LF) return start
  return near === floor ? floor : Math.max(floor, findByteBackwards(bytes, LF, near - 1) + 1)
}

/** The line feed that ends the line of offset `at`, or the end of the bytes. */
export function lineFeedAt(bytes: Uint8Array, at: number): number {
  // Most lines are short, and then a call into the platform costs more than the search.
  const near = Math.min(bytes.length, at + 96)
  for (let i = at; i < near; i++) if (bytes[i] === LF) return i
  if (near === bytes.length) return near
  const found = findByte(bytes, LF, near)
  return found === -1 ? bytes.length : found
}

/** Where a line ends without its line end, given where it starts and what {@link lineFeedAt} said. */
export function lineEndBefore(bytes: Uint8Array, lineStart: number, lineFeed: number): number {
  return lineFeed < bytes.length && lineFeed > lineStart && bytes[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed
}

/** Where the first line starts: after a UTF-8 byte order mark, which is no part of it. */
export function firstLineStart(bytes: Uint8Array): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
}
