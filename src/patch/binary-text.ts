import { concatBytes } from '../util/bytes.ts'
import type { BinaryBody } from './file-change.ts'
import { invalidPatch } from './invalid-patch.ts'

/** Reads a patch line by line. */
interface LineReader {
  readonly text: string
  readonly at: number
  readonly number: number
  startsWith(start: string): boolean
  rest(skip: number): string
  next(): void
}

/**
 * Parses one part of a git binary patch, up to the empty line that ends it: `literal SIZE` or `delta SIZE`, and lines in
 * base 85. The content stays compressed. Returns `undefined` if no part starts here.
 *
 * @throws ToolError `INVALID_PATCH`
 */
export function parseBinary(lines: LineReader): Pick<BinaryBody, 'type' | 'method' | 'data' | 'size'> | undefined {
  const match = /^(literal|delta) (\d{1,15})\s*$/.exec(lines.rest(0).slice(0, 40))
  if (match === null) return undefined
  const method = match[1] as 'literal' | 'delta'
  lines.next()
  const parts: Uint8Array[] = []
  for (;;) {
    const row = lines.rest(0)
    if (row === '' || row === '\r') {
      lines.next()
      break
    }
    const part = decodeRow(row.endsWith('\r') ? row.slice(0, -1) : row)
    if (part === undefined) throw invalidPatch(lines.number, 'the line of the binary patch is corrupt')
    parts.push(part)
    lines.next()
  }
  return { type: 'binary', method, data: concatBytes(parts), size: Number(match[2]) }
}

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'
const digits = new Int8Array(128).fill(-1)
for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i

/** Decodes a row: its length as a letter, then groups of five digits for four bytes each. */
function decodeRow(row: string): Uint8Array | undefined {
  const letter = row.charCodeAt(0)
  const length = letter >= 65 && letter <= 90 ? letter - 64 : letter >= 97 && letter <= 122 ? letter - 70 : 0
  const groups = (row.length - 1) / 5
  if (length === 0 || !Number.isInteger(groups) || length > groups * 4 || length <= groups * 4 - 4) return undefined
  const bytes = new Uint8Array(length)
  for (let group = 0; group < groups; group++) {
    let value = 0
    for (let i = 0; i < 5; i++) {
      const digit = digits[row.charCodeAt(1 + group * 5 + i)] ?? -1
      if (digit < 0) return undefined
      value = value * 85 + digit
    }
    if (value > 0xffffffff) return undefined
    for (let i = 0; i < 4 && group * 4 + i < length; i++) bytes[group * 4 + i] = (value / 2 ** (24 - 8 * i)) & 0xff
  }
  return bytes
}
