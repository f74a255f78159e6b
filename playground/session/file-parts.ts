import { createYield } from '../projects/yield-to-page.ts'

/** A part of a large text: whole lines, where lines are not longer than a part. */
export interface FilePart {
  /** Byte offsets. */
  readonly start: number
  readonly end: number
  /** The number of the first line, from 1. */
  readonly firstLine: number
  /** Line breaks in the part. */
  readonly breaks: number
}

/** Bytes of a part. */
const PART_BYTES = 256 * 1024
/** Bytes at the start that decide whether a file is text. */
const PROBE_BYTES = 8 * 1024
const LINE_FEED = 0x0a

/** Encodings of older texts, the most common one first. */
export const encodings = {
  'windows-1252': 'Western (Latin-1)',
  'iso-8859-2': 'Central European (Latin-2)',
  'windows-1251': 'Cyrillic',
  shift_jis: 'Japanese (Shift JIS)',
  gb18030: 'Chinese (GB 18030)',
  'euc-kr': 'Korean (EUC-KR)',
} as const

/** One of {@link encodings}. */
export type Encoding = keyof typeof encodings

/** Whether a text is UTF-8 as a whole. */
export async function isUtf8(bytes: Uint8Array): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const yieldToPage = createYield()
  try {
    for (let start = 0; start < bytes.length; start += PART_BYTES) {
      decoder.decode(bytes.subarray(start, start + PART_BYTES), { stream: true })
      await yieldToPage()
    }
    decoder.decode()
    return true
  } catch {
    return false
  }
}

/** Returns a text of another encoding as UTF-8. */
export function toUtf8(bytes: Uint8Array, encoding: Encoding): Uint8Array {
  return new TextEncoder().encode(new TextDecoder(encoding).decode(bytes))
}

/** Divides a large text into parts, or returns undefined if it is not text. */
export async function partsOf(bytes: Uint8Array): Promise<readonly FilePart[] | undefined> {
  if (bytes.subarray(0, PROBE_BYTES).includes(0)) return undefined
  const parts: FilePart[] = []
  const yieldToPage = createYield()
  let firstLine = 1
  for (let start = 0; start < bytes.length; ) {
    const end = endOfPart(bytes, start)
    let breaks = 0
    for (let at = start; at < end; at++) if (bytes[at] === LINE_FEED) breaks += 1
    parts.push({ start, end, firstLine, breaks })
    firstLine += breaks
    start = end
    await yieldToPage()
  }
  return parts
}

function endOfPart(bytes: Uint8Array, start: number): number {
  const most = start + PART_BYTES
  if (most >= bytes.length) return bytes.length
  const lineEnd = bytes.lastIndexOf(LINE_FEED, most - 1) + 1
  if (lineEnd > start) return lineEnd
  let end = most
  // Not within a character.
  while (end > start && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1
  return end
}

/** Returns the index of the part with a line. */
export function partOfLine(parts: readonly FilePart[], line: number): number {
  const after = parts.findIndex(({ firstLine }) => firstLine > line)
  return after === -1 ? parts.length - 1 : Math.max(0, after - 1)
}

export function textOfPart(bytes: Uint8Array, { start, end }: FilePart): string {
  const text = new TextDecoder('utf-8', { ignoreBOM: start > 0 }).decode(bytes.subarray(start, end))
  // The line after the last break begins the next part.
  return text.replace(/\r?\n$/, '')
}
