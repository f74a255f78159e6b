import { ToolError } from '../errors.ts'
import { MARK_PATTERN, MARK_START, redact } from '../files/secrets/index.ts'
import { decodeText, encodeText, looksBinary, type TextFormat } from '../files/text/encoding.ts'
import { type LogicalPath, quote } from '../paths/logical-path.ts'
import { byteText } from '../util/native-bytes.ts'
import { type Applied, applyChunks, applyHunks, type HunkMismatch, joinPieces, type Piece } from './apply.ts'
import { applyBinary } from './binary-apply.ts'
import type { Body, Chunk, FileChange, Hunk } from './file-change.ts'
import { createTextLines, scanLines } from './text-lines.ts'

/** How large a file may be before or after. In bytes. */
export interface ApplyLimits {
  readonly textFileBytes: number
}

/**
 * The bytes of one file after a change of a patch. Text is matched byte for byte; a hunk that does not fit so is tried
 * once more as a model would mean it: with the file's own line ends where the patch has plain ones (and plain ones where
 * all of the patch has `\r\n`), without the byte order mark, and with what the marks of hidden secrets stand for.
 * Encoding, byte order mark and line ends stay those of the file. `null` stands for no file.
 *
 * @throws ToolError `PATCH_CONFLICT` with `hunk`, `expected` and `actual` lines; `POLICY_DENIED_SECRET` where a mark
 *   would be written; `FILE_TOO_LARGE`, `INVALID_PATCH`, `LIMIT_EXCEEDED`
 */
export async function applyToFile(
  old: Uint8Array | null,
  change: FileChange<LogicalPath>,
  limits: ApplyLimits,
): Promise<Uint8Array> {
  const path = (change.oldPath ?? change.newPath) as LogicalPath
  const { body } = change
  if (body.type === 'binary') return applyBinary(old, body, path, limits.textFileBytes)
  if (body.type === 'text') return encoder.encode(body.text)
  if (old !== null && isUntouched(body)) return old
  const bytes = old ?? EMPTY
  const result = byteForByte(bytes, body) ?? asMeant(bytes, body, path, change)
  if (result.length > limits.textFileBytes && result.length > bytes.length) {
    const message = `Cannot patch ${quote(path)}: it would have ${result.length} bytes, over the limit of ${limits.textFileBytes}`
    throw new ToolError('FILE_TOO_LARGE', message, { path, limit: limits.textFileBytes })
  }
  return result
}

const EMPTY = new Uint8Array()
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

type TextBody = Extract<Body, { type: 'hunks' | 'chunks' }>

function isUntouched(body: TextBody): boolean {
  return body.type === 'hunks' ? body.hunks.length === 0 : body.chunks.length === 0
}

/** What nearly every patch is; `undefined` where it does not fit so. A line end is one byte in every text but UTF-16. */
function byteForByte(bytes: Uint8Array, body: TextBody): Uint8Array | undefined {
  if (body.type !== 'hunks' || isUtf16(bytes)) return undefined
  const found = scanLines(bytes)
  const isText = !found.isAscii
  const units = isText ? mapLines(body, toByteText) : body
  const applied = applyHunks(createTextLines(byteText(bytes), found), units.hunks)
  if ('misfit' in applied) return undefined
  return spliceBytes(bytes, applied.pieces, isText ? fromByteText : encode)
}

/** With the readings beside that of every byte. */
function asMeant(bytes: Uint8Array, body: TextBody, path: LogicalPath, change: FileChange): Uint8Array {
  const file = readFile(bytes)
  const applied = tryReadings(file, body)
  if ('misfit' in applied) throw conflict(path, change, file, applied.misfit)
  return file.write(applied.pieces)
}

function encode(text: string): Uint8Array {
  return encoder.encode(text)
}

/** A file as the text that a patch is about. */
interface FileText {
  /** With its byte order mark, as git sees it. */
  readonly text: string
  /** Whether each unit of the text stands for one byte, because the file is no UTF-8. */
  readonly isBytes: boolean
  write(pieces: readonly Piece[]): Uint8Array
}

function readFile(bytes: Uint8Array): FileText {
  const utf16 = utf16Text(bytes)
  if (utf16 !== undefined) return utf16
  try {
    const text = decoder.decode(bytes)
    return { text, isBytes: false, write: (pieces) => encoder.encode(joinPieces(pieces, text)) }
  } catch {
    // Lines around the bytes that are no text can still be patched.
    const text = byteText(bytes)
    return { text, isBytes: true, write: (pieces) => fromByteText(joinPieces(pieces, text)) }
  }
}

/** What pieces make of bytes, with offsets in bytes. */
function spliceBytes(bytes: Uint8Array, pieces: readonly Piece[], encoded: (text: string) => Uint8Array): Uint8Array {
  const added = pieces.filter((piece) => typeof piece === 'string')
  // All that is new at once, unless its lengths differ in bytes.
  const joined = added.join('')
  const all = encoded(joined)
  const isSame = all.length === joined.length
  let size = all.length
  for (const piece of pieces) if (typeof piece !== 'string') size += piece[1] - piece[0]
  const result = new Uint8Array(size)
  let at = 0
  let taken = 0
  for (const piece of pieces) {
    if (typeof piece !== 'string') {
      result.set(bytes.subarray(piece[0], piece[1]), at)
      at += piece[1] - piece[0]
      continue
    }
    const part = isSame ? all.subarray(taken, taken + piece.length) : encoded(piece)
    result.set(part, at)
    taken += piece.length
    at += part.length
  }
  return result
}

/** A UTF-16 file is patched as the text that it shows. */
function utf16Text(bytes: Uint8Array): FileText | undefined {
  if (!isUtf16(bytes) || looksBinary(bytes)) return undefined
  try {
    const { text, encoding, bom } = decodeText(bytes, '' as LogicalPath)
    const format: TextFormat = { encoding, bom }
    return { text, isBytes: false, write: (pieces) => encodeText(joinPieces(pieces, text), format) }
  } catch {
    return undefined
  }
}

function isUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
}

/** A line as one unit for each of its bytes. */
function toByteText(line: string): string {
  return isAscii(line) ? line : byteText(encoder.encode(line))
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

function fromByteText(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

/** Applies as written, and if that does not fit, as a model would mean it. The first misfit is the one to tell. */
function tryReadings(file: FileText, body: TextBody): Applied {
  const plain = file.isBytes ? mapLines(body, toByteText) : body
  const asWritten = apply(file.text, plain)
  if (!('misfit' in asWritten)) return asWritten
  for (const reading of readings(file, plain)) {
    const applied = reading()
    if (!('misfit' in applied)) return applied
  }
  return asWritten
}

function* readings(file: FileText, body: TextBody): Generator<() => Applied> {
  const bom = file.text.charCodeAt(0) === 0xfeff
  const text = bom ? file.text.slice(1) : file.text
  const withBom = (applied: Applied): Applied =>
    bom && 'pieces' in applied ? { pieces: [`\ufeff${joinPieces(applied.pieces, text)}`] } : applied
  const ended = body.type === 'hunks' ? withLineEnds(body, text) : undefined
  if (bom || ended !== undefined) yield () => withBom(apply(text, ended ?? body))
  if (!someLine(body, (line) => line.includes(MARK_START))) return
  const { marks } = redact(text)
  if (marks.length === 0) return
  const hidden = new Map(
    marks.map(({ mark, originalStart, originalEnd }) => [mark, text.slice(originalStart, originalEnd)]),
  )
  const revealed = mapLines(ended ?? body, (line) => line.replaceAll(MARK_PATTERN, (mark) => hidden.get(mark) ?? mark))
  yield () => withBom(apply(text, revealed))
}

function apply(text: string, body: TextBody): Applied {
  return body.type === 'hunks' ? applyHunks(createTextLines(text), body.hunks) : applyChunks(text, body.chunks)
}

/** The hunks with the line ends of the file, where all of the patch has one other kind. */
function withLineEnds(body: Extract<Body, { type: 'hunks' }>, text: string): TextBody | undefined {
  const ends = text.indexOf('\n')
  if (ends === -1) return undefined
  const isCrlf = !/(?:^|[^\r])\n/.test(text)
  const isLf = !text.includes('\r')
  if (isCrlf && !someLine(body, (line) => line.includes('\r'))) {
    return mapLines(body, (line) => (line.endsWith('\n') ? `${line.slice(0, -1)}\r\n` : line))
  }
  if (isLf && !someLine(body, (line) => !line.endsWith('\r\n') && line.endsWith('\n'))) {
    return mapLines(body, (line) => (line.endsWith('\r\n') ? `${line.slice(0, -2)}\n` : line))
  }
  return undefined
}

function someLine(body: TextBody, is: (line: string) => boolean): boolean {
  const parts: readonly (Hunk | Chunk)[] = body.type === 'hunks' ? body.hunks : body.chunks
  return parts.some(({ oldLines, newLines }) => oldLines.some(is) || newLines.some(is))
}

function mapLines<B extends TextBody>(body: B, change: (line: string) => string): B {
  const mapped = <P extends Hunk | Chunk>(part: P): P => ({
    ...part,
    oldLines: part.oldLines.map(change),
    newLines: part.newLines.map(change),
  })
  return (
    body.type === 'hunks' ? { ...body, hunks: body.hunks.map(mapped) } : { ...body, chunks: body.chunks.map(mapped) }
  ) as B
}

/** Refuses added lines that hold a mark: it would be written over what it hides. */
export function refuseAddedMarks(old: Uint8Array | null, change: FileChange<LogicalPath>): void {
  const { body } = change
  const path = change.newPath
  if (old === null || path === null || (body.type !== 'hunks' && body.type !== 'chunks')) return
  const parts: readonly (Hunk | Chunk)[] = body.type === 'hunks' ? body.hunks : body.chunks
  const added = parts.flatMap(({ oldLines, newLines }) => {
    const marked = newLines.filter((line) => line.includes(MARK_START))
    if (marked.length === 0) return []
    const kept = new Set(oldLines)
    return marked.filter((line) => !kept.has(line))
  })
  if (added.length === 0) return
  for (const { mark } of redact(readFile(old).text).marks) {
    if (!added.some((line) => line.includes(mark))) continue
    throw new ToolError('POLICY_DENIED_SECRET', `Cannot write ${mark} over what it hides in ${quote(path)}`, {
      path,
      hint: 'Keep lines with a mark as context, and change only the lines around them.',
    })
  }
}

const MOST_LINES = 40
const MOST_UNITS = 300

/** The refusal with what was expected and what is there, as a model may see it: secrets stand as marks. */
function conflict(path: LogicalPath, change: FileChange, file: FileText, misfit: HunkMismatch): ToolError {
  const { hunk, patchLine, why, expected, place } = misfit
  const shown = redact(file.text).text.split('\n')
  if (shown[shown.length - 1] === '') shown.pop()
  const actual = shown.slice(place, place + Math.min(Math.max(expected.length, 3), MOST_LINES))
  const part = change.body.type === 'chunks' ? 'chunk' : 'hunk'
  return new ToolError('PATCH_CONFLICT', `Cannot patch ${quote(path)}: ${part} ${hunk} does not fit: ${why}`, {
    path,
    hunk,
    patchLine,
    why,
    expected: expected.slice(0, MOST_LINES).map((text, i) => ({ line: place + i + 1, text: shorten(text) })),
    actual: actual.map((text, i) => ({ line: place + i + 1, text: shorten(text) })),
    totalLines: shown.length,
  })
}

function shorten(line: string): string {
  const text = line.replace(/\r?\n$/, '').replace(/\r$/, '')
  return text.length > MOST_UNITS ? `${text.slice(0, MOST_UNITS)}…` : text
}
