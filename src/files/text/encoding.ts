import { ToolError } from '../../errors.ts'
import { type LogicalPath, quote } from '../../paths/logical-path.ts'
import { indexOfByte } from '../../util/native-bytes.ts'

/** The encoding of a text file. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be'

/** The line ends of a text. `mixed`: more than one kind. `none`: one line without an end. */
export type LineEnd = 'lf' | 'crlf' | 'cr' | 'mixed' | 'none'

/** The properties of a text file that are not part of its text and stay when the text changes. */
export interface TextFormat {
  readonly encoding: Encoding
  readonly bom: boolean
}

/** A decoded text file. */
export interface DecodedText extends TextFormat {
  /** The text without the byte order mark. */
  readonly text: string
  readonly eol: LineEnd
}

/**
 * Whether bytes are binary: they contain a NUL within the first 8,000 bytes, as in git. UTF-16 with a byte order mark is
 * binary if it contains a NUL unit.
 */
export function looksBinary(bytes: Uint8Array): boolean {
  const encoding = bomEncoding(bytes)
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const end = Math.min(bytes.length, BINARY_WINDOW)
    for (let i = 2; i < end; i += 2) if (bytes[i] === 0 && bytes[i + 1] === 0) return true
    return false
  }
  return indexOfByte(bytes.length > BINARY_WINDOW ? bytes.subarray(0, BINARY_WINDOW) : bytes, 0) !== -1
}

/**
 * Decodes a file without loss: encoding the result with `encodeText` always gives the same bytes. Accepts only UTF-8, and
 * UTF-16 with a byte order mark; never replaces or guesses characters.
 *
 * @throws ToolError `UNSUPPORTED_BINARY`; `UNSUPPORTED_ENCODING` with `offset`, the first invalid byte
 */
export function decodeText(bytes: Uint8Array, path: LogicalPath): DecodedText {
  const encoding = bomEncoding(bytes)
  if (encoding === 'utf-32') refuseEncoding(path, 'is UTF-32', 0)
  if (looksBinary(bytes)) {
    if (encoding === undefined && looksLikeUtf16(bytes)) refuseEncoding(path, 'is UTF-16 without a byte order mark', 0)
    throw new ToolError('UNSUPPORTED_BINARY', `Cannot read ${quote(path)} as text: it is binary`, { path })
  }
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const text = decodeUtf16(bytes, encoding === 'utf-16le' ? 0 : 1, path)
    return { text, encoding, bom: true, eol: detectLineEnd(text) }
  }
  const bom = encoding === 'utf-8'
  let text: string
  try {
    text = utf8Decoder.decode(bom ? bytes.subarray(3) : bytes)
  } catch {
    return refuseEncoding(path, 'is not UTF-8', invalidUtf8At(bytes))
  }
  return { text, encoding: 'utf-8', bom, eol: detectLineEnd(text) }
}

/**
 * Encodes a text in a file's format.
 *
 * @throws ToolError `INVALID_INPUT` for a lone surrogate, which has no encoding
 */
export function encodeText(text: string, format: TextFormat): Uint8Array {
  const lone = loneSurrogateAt(text)
  if (lone !== -1) {
    throw new ToolError('INVALID_INPUT', `Cannot encode text: lone surrogate at offset ${lone}`, { offset: lone })
  }
  if (format.encoding === 'utf-8') return utf8Encoder.encode(format.bom ? `\ufeff${text}` : text)
  const bytes = new Uint8Array((text.length + (format.bom ? 1 : 0)) * 2)
  const view = new DataView(bytes.buffer)
  const littleEndian = format.encoding === 'utf-16le'
  let at = 0
  if (format.bom) {
    view.setUint16(0, 0xfeff, littleEndian)
    at = 2
  }
  for (let i = 0; i < text.length; i++, at += 2) view.setUint16(at, text.charCodeAt(i), littleEndian)
  return bytes
}

/** Returns the kind of line end that a text uses. */
export function detectLineEnd(text: string): LineEnd {
  if (text.indexOf('\r') === -1) return text.indexOf('\n') === -1 ? 'none' : 'lf'
  let eol: LineEnd = 'none'
  let cr = text.indexOf('\r')
  let lf = text.indexOf('\n')
  while (cr !== -1 || lf !== -1) {
    const kind = lf !== -1 && (cr === -1 || lf < cr) ? 'lf' : lf === cr + 1 ? 'crlf' : 'cr'
    if (eol !== 'none' && eol !== kind) return 'mixed'
    eol = kind
    // Searches again only for the unit that was found: a search from every line for a distant unit would be quadratic.
    if (kind !== 'lf') cr = text.indexOf('\r', cr + 1)
    if (kind !== 'cr') lf = text.indexOf('\n', lf + 1)
  }
  return eol
}

/** Replaces each bare `\n` by the line end of the file. A `\r\n` stays as it is. */
export function adaptLineEnds(text: string, eol: LineEnd): string {
  if (eol === 'crlf') return text.replace(/\r?\n/g, '\r\n')
  if (eol === 'cr') return text.replace(/\r?\n/g, (end) => (end === '\n' ? '\r' : end))
  return text
}

/** Bytes that git checks for a NUL. */
const BINARY_WINDOW = 8000

// `ignoreBOM` keeps a byte order mark, so that a second mark after the first is not lost.
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const utf8Encoder = new TextEncoder()

function bomEncoding(bytes: Uint8Array): Encoding | 'utf-32' | undefined {
  const [a, b] = bytes
  if (a === 0xef) return b === 0xbb && bytes[2] === 0xbf ? 'utf-8' : undefined
  if (a === 0xff && b === 0xfe) return bytes[2] === 0 && bytes[3] === 0 ? 'utf-32' : 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (a === 0 && b === 0 && bytes[2] === 0xfe && bytes[3] === 0xff) return 'utf-32'
  return undefined
}

/** Whether bytes look like mostly ASCII text in UTF-16: only every other byte is NUL, and most of these are. */
function looksLikeUtf16(bytes: Uint8Array): boolean {
  if (bytes.length % 2 !== 0) return false
  const end = Math.min(bytes.length, BINARY_WINDOW)
  let even = 0
  let odd = 0
  for (let i = 0; i < end; i += 2) {
    if (bytes[i] === 0) even += 1
    if (bytes[i + 1] === 0) odd += 1
  }
  return Math.min(even, odd) === 0 && Math.max(even, odd) * 4 > end
}

function decodeUtf16(bytes: Uint8Array, low: 0 | 1, path: LogicalPath): string {
  if (bytes.length % 2 !== 0) refuseEncoding(path, 'is UTF-16 with an odd number of bytes', bytes.length - 1)
  const units = new Uint16Array(bytes.length / 2 - 1)
  for (let i = 0, at = 2; i < units.length; i++, at += 2) {
    units[i] = (bytes[at + low] as number) | ((bytes[at + 1 - low] as number) << 8)
  }
  let text = ''
  // The length of an argument list is limited.
  for (let at = 0; at < units.length; at += 8192) text += String.fromCharCode(...units.subarray(at, at + 8192))
  const lone = loneSurrogateAt(text)
  if (lone !== -1) refuseEncoding(path, 'is not well-formed UTF-16', 2 + lone * 2)
  return text
}

/** Returns the offset of the first lone surrogate, or -1. */
export function loneSurrogateAt(text: string): number {
  if ((text as { isWellFormed?(): boolean }).isWellFormed?.() === true) return -1
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0xd800 || unit > 0xdfff) continue
    const next = text.charCodeAt(i + 1)
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return i
    i += 1
  }
  return -1
}

/** Returns the start of the first ill-formed sequence (Unicode, table 3-7). Called only after decoding failed. */
function invalidUtf8At(bytes: Uint8Array): number {
  for (let i = 0; i < bytes.length; ) {
    const lead = bytes[i] as number
    if (lead < 0x80) {
      i += 1
      continue
    }
    const length =
      lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
    if (length === 0) return i
    const second = bytes[i + 1] ?? 0
    const min = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80
    const max = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf
    if (second < min || second > max) return i
    for (let k = 2; k < length; k++) if (((bytes[i + k] ?? 0) & 0xc0) !== 0x80) return i
    i += length
  }
  /* v8 ignore next -- @preserve: bytes without such a sequence would have been decoded */
  return bytes.length
}

function refuseEncoding(path: LogicalPath, problem: string, offset: number): never {
  const message = `Cannot read ${quote(path)} as text: it ${problem} (byte ${offset})`
  throw new ToolError('UNSUPPORTED_ENCODING', message, { path, offset })
}
