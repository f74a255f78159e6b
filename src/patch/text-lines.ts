import { byteText } from '../util/native-bytes.ts'

/** A text as lines that include their line end; the last one may have none. Only `\n` ends a line, as in git. */
export interface TextLines {
  readonly count: number
  /** Returns the offset of a line; for `count`, the length of the text. */
  start(line: number): number
  at(line: number): string
  /** Returns the lines `[from, to)`. */
  slice(from: number, to: number): string
  /** Whether the text has these lines in order, starting at a line. */
  match(run: readonly string[], line: number): boolean
}

/** The offsets of the lines of a text, followed by its length. */
export interface LineStarts {
  readonly count: number
  readonly starts: Int32Array
}

/** Finds the lines of a text in one pass. */
export function createTextLines(text: string): TextLines {
  return linesOver(startsIn(text), (start, end) => text.slice(start, end))
}

/** Returns the lines of bytes, as {@link byteText} has them. Creates strings only of the lines that are asked for. */
export function createByteLines(bytes: Uint8Array, lines: LineStarts): TextLines {
  return linesOver(lines, (start, end) => byteText(bytes, start, end))
}

function linesOver({ starts, count }: LineStarts, textAt: (start: number, end: number) => string): TextLines {
  const slice = (from: number, to: number) => textAt(starts[from] as number, starts[to] as number)
  return {
    count,
    start: (line) => starts[line] as number,
    at: (line) => slice(line, line + 1),
    slice,
    match(run, line) {
      if (line < 0 || line + run.length > count) return false
      for (let i = 0; i < run.length; i++) {
        const start = starts[line + i] as number
        if ((starts[line + i + 1] as number) - start !== (run[i] as string).length) return false
      }
      return slice(line, line + run.length) === run.join('')
    },
  }
}

function startsIn(text: string): LineStarts {
  let starts = new Int32Array(Math.max(64, text.length >>> 4))
  let count = 0
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\n', at)
    at = end === -1 ? text.length : end + 1
    count += 1
    if (count === starts.length) starts = longer(starts)
    starts[count] = at
  }
  return { starts, count }
}

/** Finds the lines of bytes, four bytes at a time, and whether all bytes are ASCII. */
export function scanLines(bytes: Uint8Array): LineStarts & { readonly isAscii: boolean } {
  const { length } = bytes
  // The bytes before the first aligned word. `tail` starts after the last one.
  const head = -bytes.byteOffset & 3
  if (length < head) return { ...startsIn(byteText(bytes)), isAscii: !bytes.some((byte) => byte > 127) }
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + head, (length - head) >>> 2)
  const tail = head + words.length * 4
  let starts = new Int32Array(Math.max(64, length >>> 5))
  let count = 0
  let all = 0
  for (let i = 0; i < head; i++) {
    const byte = bytes[i] as number
    all |= byte
    if (byte === NEWLINE) starts[++count] = i + 1
  }
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as number
    all |= word
    // A newline becomes a zero byte. This is the usual test for a zero byte in a word.
    const zeroed = word ^ NEWLINES
    if ((((zeroed - ONES) | 0) & ~zeroed & HIGH_BITS) === 0) continue
    // Room for the four bytes of this word, and for up to three after the last word.
    if (count + 8 > starts.length) starts = longer(starts)
    const at = head + i * 4
    for (let next = at + 1; next <= at + 4; next++) if (bytes[next - 1] === NEWLINE) starts[++count] = next
  }
  for (let i = tail; i < length; i++) {
    const byte = bytes[i] as number
    all |= byte
    if (byte === NEWLINE) starts[++count] = i + 1
  }
  if ((starts[count] as number) < length) starts[++count] = length
  return { starts, count, isAscii: (all & HIGH_BITS) === 0 }
}

const NEWLINE = 10
const NEWLINES = 0x0a0a0a0a
const ONES = 0x01010101
const HIGH_BITS = 0x80808080 | 0

function longer(starts: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(starts.length * 2)
  copy.set(starts)
  return copy
}
