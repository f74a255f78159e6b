import { byteText } from '../../util/native-bytes.ts'
import type { Steps } from '../../util/steps.ts'
import { SLICE } from './slices.ts'

/** ASCII text in a wide encoding, such as UTF-16 without a byte order mark, read as bytes: each character has NULs around it. */
interface WideText {
  /** The characters without the NULs. */
  readonly text: string
  readonly start: number
}

/** The least number of characters. */
const SHORTEST = 8

/** Finds the runs of wide text in a text of one character per byte. */
export function* findWideTexts(text: string): Steps<readonly WideText[]> {
  const found: WideText[] = []
  let pausedAt = 0
  for (let at = 0; at < text.length; ) {
    const start = nextWide(text, at, at + SLICE)
    at = start
    let count = 0
    const parts: string[] = []
    for (let end = -1; end !== at; ) {
      if (count > 0) yield
      const from = at
      at = wideRunEnd(text, from, from + SLICE)
      end = wideEnd(text, at)
      if (end === at && count === 0 && at - from < SHORTEST * 2) break
      // The last character of big-endian text has no NUL behind it.
      const isLast = end === at && count + at - from > 0 && isPrintable(text, at) && !isPrintable(text, at + 1)
      const part = withoutNuls(text, from, isLast ? at + 1 : at)
      count += part.length - (isLast ? 1 : 0)
      if (isLast && count >= SHORTEST) end = at += 1
      parts.push(part)
    }
    if (count >= SHORTEST) found.push({ text: parts.join(''), start })
    if (at < pausedAt + SLICE) continue
    yield
    pausedAt = at
  }
  return found
}

/** Returns the offset of the next wide character before `limit`, or else `limit`. */
function nextWide(text: string, from: number, limit: number): number {
  let at = from
  while (at < limit && wideEnd(text, at) === at) at += 1
  return at
}

/** Returns the end of a run of wide characters that start before `limit`. */
function wideRunEnd(text: string, from: number, limit: number): number {
  let at = from
  while (at < limit) {
    const end = wideEnd(text, at)
    if (end === at) return at
    at = end
  }
  return at
}

/** Returns a function from ascending offsets in a wide text to offsets in the text around it. */
export function offsetsIn(text: string, { start }: WideText): (character: number) => number {
  let at = start
  let reached = 0
  return (character) => {
    for (; reached < character; reached++) at = wideEnd(text, at)
    return at
  }
}

/** Returns the end of a wide character, or `at` if none is there. */
function wideEnd(text: string, at: number): number {
  if (text.charCodeAt(at + 1) !== 0 || !isPrintable(text, at)) return at
  let end = at + 2
  while (end < at + 4 && text.charCodeAt(end) === 0) end += 1
  return end
}

/** Returns a range of wide text without its NULs. Many times faster than to replace them in the string. */
function withoutNuls(text: string, start: number, end: number): string {
  const bytes = new Uint8Array(end - start)
  let length = 0
  for (let at = start; at < end; at++) {
    const unit = text.charCodeAt(at)
    if (unit !== 0) bytes[length++] = unit
  }
  return byteText(bytes.subarray(0, length))
}

function isPrintable(text: string, at: number): boolean {
  const unit = text.charCodeAt(at)
  return (unit >= 0x20 && unit <= 0x7e) || unit === 0x09 || unit === 0x0a || unit === 0x0d
}
