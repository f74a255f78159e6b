import { ToolError } from '../errors.ts'
import { MARK_PATTERN, MARK_START, redact } from '../files/secrets/index.ts'
import { marksOf, refuseMarksOver } from '../files/secrets/refusals.ts'
import { decodeText, encodeText, looksBinary, type TextFormat } from '../files/text/encoding.ts'
import { type LogicalPath, quote } from '../paths/logical-path.ts'
import { byteText, fromByteText } from '../util/native-bytes.ts'
import { type ApplyResult, applyChunks, applyHunks, type HunkMismatch } from './apply.ts'
import { applyBinary } from './binary-apply.ts'
import type { Body, Chunk, FileChange, Hunk } from './file-change.ts'
import type { PatchedFile } from './line-diff.ts'
import { patchedRegions } from './patched-regions.ts'
import { joinPieces, type Piece } from './patched-text.ts'
import { createByteLines, createTextLines, scanLines } from './text-lines.ts'

/** The maximum size of a file before and after a patch. */
export interface ApplyLimits {
  /** In bytes. */
  readonly textFileBytes: number
}

/**
 * Returns the bytes of one file after a change of a patch; `old` is `null` if there is no file. Text is matched byte for
 * byte. A hunk that does not match is tried again in the ways in which models write patches: with the line ends of a file
 * that has only `\r\n` (if the patch has only `\n`), without the byte order mark, and with the secrets that redaction marks
 * replace. A patch with `\r\n` does not fit a file with `\n`, as in git. Encoding, byte order mark and line ends of the file stay unchanged.
 *
 * @param notePatched called if hunks have matched the bytes of the file
 * @throws ToolError `PATCH_CONFLICT` with `hunk`, `expected` and `actual` lines; `FILE_TOO_LARGE`, `INVALID_PATCH`,
 *   `LIMIT_EXCEEDED`
 */
export async function applyToFile(
  old: Uint8Array | null,
  change: FileChange<LogicalPath>,
  limits: ApplyLimits,
  notePatched?: (file: PatchedFile) => void,
): Promise<Uint8Array> {
  const path = (change.oldPath ?? change.newPath) as LogicalPath
  const { body } = change
  if (body.type === 'binary') return applyBinary(old, body, path, limits.textFileBytes)
  if (body.type === 'text') return encoder.encode(body.text)
  if (old !== null && isEmpty(body)) return old
  const bytes = old ?? EMPTY
  const result = applyToBytes(bytes, body, notePatched) ?? applyToText(bytes, body, path, change)
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

function isEmpty(body: TextBody): boolean {
  return body.type === 'hunks' ? body.hunks.length === 0 : body.chunks.length === 0
}

/**
 * Applies hunks to the bytes without decoding them: the fast path for nearly every patch. Returns `undefined` if they do
 * not match. Possible because a line end is one byte in every encoding but UTF-16.
 */
function applyToBytes(
  bytes: Uint8Array,
  body: TextBody,
  notePatched: ((file: PatchedFile) => void) | undefined,
): Uint8Array | undefined {
  if (body.type !== 'hunks' || isUtf16(bytes)) return undefined
  const lines = scanLines(bytes)
  const { hunks } = lines.isAscii ? body : mapLines(body, toByteText)
  const applied = applyHunks(createByteLines(bytes, lines), hunks)
  if ('mismatch' in applied) return undefined
  const after = spliceBytes(bytes, applied.text.pieces(), lines.isAscii ? encode : fromByteText)
  notePatched?.({ before: bytes, after, regions: () => patchedRegions(applied.text, bytes, after) })
  return after
}

/** Applies a change to the decoded text, with all readings of the patch. */
function applyToText(bytes: Uint8Array, body: TextBody, path: LogicalPath, change: FileChange): Uint8Array {
  const file = readFile(bytes)
  const applied = tryReadings(file, body)
  if ('mismatch' in applied) throw conflict(path, change, file, applied.mismatch)
  return file.write(applied.pieces)
}

function encode(text: string): Uint8Array {
  return encoder.encode(text)
}

/** A file as the text that a patch applies to. */
interface FileText {
  /** Includes the byte order mark, as in git. */
  readonly text: string
  /** Whether each unit of the text represents one byte, because the file is not UTF-8. */
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
    // Lines around invalid bytes can still be patched.
    const text = byteText(bytes)
    return { text, isBytes: true, write: (pieces) => fromByteText(joinPieces(pieces, text)) }
  }
}

/** Returns the changed bytes. The offsets of the pieces are in bytes. */
function spliceBytes(bytes: Uint8Array, pieces: readonly Piece[], encoded: (text: string) => Uint8Array): Uint8Array {
  const added = pieces.filter((piece) => typeof piece === 'string')
  // New text is encoded at once, unless some of it has more bytes than units.
  const joined = added.join('')
  const addedBytes = encoded(joined)
  const isOneBytePerUnit = addedBytes.length === joined.length
  let size = addedBytes.length
  for (const piece of pieces) if (typeof piece !== 'string') size += piece[1] - piece[0]
  const result = new Uint8Array(size)
  let at = 0
  let addedOffset = 0
  for (const piece of pieces) {
    if (typeof piece !== 'string') {
      result.set(bytes.subarray(piece[0], piece[1]), at)
      at += piece[1] - piece[0]
      continue
    }
    const part = isOneBytePerUnit ? addedBytes.subarray(addedOffset, addedOffset + piece.length) : encoded(piece)
    result.set(part, at)
    addedOffset += piece.length
    at += part.length
  }
  return result
}

/** Decodes a UTF-16 file. */
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

/** Returns a line with one unit for each of its bytes. */
function toByteText(line: string): string {
  return isAscii(line) ? line : byteText(encoder.encode(line))
}

function isAscii(text: string): boolean {
  return !/[^\0-\x7f]/.test(text)
}

/** Applies a change as written and, if that fails, in the other readings. The mismatch of the first one is returned. */
function tryReadings(file: FileText, body: TextBody): ApplyResult {
  const plain = file.isBytes ? mapLines(body, toByteText) : body
  const asWritten = apply(file.text, plain)
  if (!('mismatch' in asWritten)) return asWritten
  for (const reading of readings(file, plain)) {
    const applied = reading()
    if (!('mismatch' in applied)) return applied
  }
  return asWritten
}

function* readings(file: FileText, body: TextBody): Generator<() => ApplyResult> {
  const bom = file.text.charCodeAt(0) === 0xfeff
  const text = bom ? file.text.slice(1) : file.text
  const withBom = (applied: ApplyResult): ApplyResult =>
    bom && 'pieces' in applied ? { pieces: [`\ufeff${joinPieces(applied.pieces, text)}`] } : applied
  const withEnds = body.type === 'hunks' ? withLineEnds(body, text) : undefined
  if (bom || withEnds !== undefined) yield () => withBom(apply(text, withEnds ?? body))
  if (!someLine(body, (line) => line.includes(MARK_START))) return
  const { marks } = redact(text)
  if (marks.length === 0) return
  const secrets = new Map(
    marks.map(({ mark, originalStart, originalEnd }) => [mark, text.slice(originalStart, originalEnd)]),
  )
  const revealed = mapLines(withEnds ?? body, (line) =>
    line.replaceAll(MARK_PATTERN, (mark) => secrets.get(mark) ?? mark),
  )
  yield () => withBom(apply(text, revealed))
}

function apply(text: string, body: TextBody): ApplyResult {
  if (body.type === 'chunks') return applyChunks(text, body.chunks, body.endsLine)
  const applied = applyHunks(createTextLines(text), body.hunks)
  return 'mismatch' in applied ? applied : { pieces: applied.text.pieces() }
}

/** Returns the hunks with `\r\n`, if all lines of the file end so and the patch has only `\n`. */
function withLineEnds(body: Extract<Body, { type: 'hunks' }>, text: string): TextBody | undefined {
  if (!text.includes('\n') || /(?:^|[^\r])\n/.test(text) || someLine(body, (line) => line.includes('\r')))
    return undefined
  return mapLines(body, (line) => (line.endsWith('\n') ? `${line.slice(0, -1)}\r\n` : line))
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

/**
 * Refuses added lines with a redaction mark of the file: the mark would overwrite the secret.
 *
 * @throws ToolError `POLICY_DENIED_SECRET`
 */
export function refuseAddedMarks(old: Uint8Array | null, change: FileChange<LogicalPath>): void {
  const { body } = change
  const path = change.newPath
  if (old === null || path === null || (body.type !== 'hunks' && body.type !== 'chunks')) return
  const parts: readonly (Hunk | Chunk)[] = body.type === 'hunks' ? body.hunks : body.chunks
  const added = parts.flatMap(({ oldLines, newLines }) => {
    const marked = newLines.filter((line) => line.includes(MARK_START))
    if (marked.length === 0) return []
    const oldLineSet = new Set(oldLines)
    return marked.filter((line) => !oldLineSet.has(line))
  })
  const hint = 'Keep lines with a mark as context, and change only the lines around them.'
  refuseMarksOver(path, added.join('\n'), () => marksOf(readFile(old).text), hint)
}

const MAX_LINES = 40
const MAX_UNITS = 300

/** The error with the expected and the actual lines, secrets redacted. */
function conflict(path: LogicalPath, change: FileChange, file: FileText, mismatch: HunkMismatch): ToolError {
  const { hunk, patchLine, why, expected, line } = mismatch
  const lines = redact(file.text).text.split('\n')
  if (lines[lines.length - 1] === '') lines.pop()
  const actual = lines.slice(line, line + Math.min(Math.max(expected.length, 3), MAX_LINES))
  const part = change.body.type === 'chunks' ? 'chunk' : 'hunk'
  return new ToolError('PATCH_CONFLICT', `Cannot patch ${quote(path)}: ${part} ${hunk} does not fit: ${why}`, {
    path,
    hunk,
    patchLine,
    why,
    expected: expected.slice(0, MAX_LINES).map((text, i) => ({ line: line + i + 1, text: shorten(text) })),
    actual: actual.map((text, i) => ({ line: line + i + 1, text: shorten(text) })),
    totalLines: lines.length,
    ...conflictHint(change.body, file.text, hunk),
  })
}

/** Returns the hint for a hunk whose lines the file has, but which does not fit. */
function conflictHint(body: Body, text: string, number: number): { readonly hint?: string } {
  if (body.type !== 'hunks') return {}
  if (hasForeignReturns(body, text)) return { hint: RETURNS_HINT }
  const { oldLines = [] } = body.hunks[number - 1] ?? {}
  const last = oldLines.at(-1)
  if (last === undefined) return { hint: CONTEXT_HINT }
  const content = oldLines.join('')
  const isEnd = (end: string) => text === end || text.endsWith(`\n${end}`)
  if (last.endsWith('\n') && isEnd(content.slice(0, -1))) return { hint: NO_NEWLINE_HINT }
  if (!last.endsWith('\n') && isEnd(`${content}\n`)) return { hint: NEWLINE_HINT }
  return `\n${text}`.includes(`\n${content}`) ? { hint: CONTEXT_HINT } : {}
}

const CONTEXT_HINT =
  'The hunk needs the lines around its change: add up to three lines of the file before and after it, each with a space before it, and count them in the @@ line.'
const NO_NEWLINE_HINT =
  'The file does not end in a newline: put the line "\\ No newline at end of file" below its last line in the hunk.'
const NEWLINE_HINT = 'The file ends in a newline: leave out "\\ No newline at end of file" below its last old line.'
const RETURNS_HINT = 'The lines of the patch end in CRLF, those of the file in LF: give the patch with LF line ends.'

/** Whether the old lines of a patch have carriage returns and the file has none. */
function hasForeignReturns(body: Body, text: string): boolean {
  return (
    body.type === 'hunks' &&
    !text.includes('\r') &&
    body.hunks.some(({ oldLines }) => oldLines.some((line) => line.endsWith('\r\n')))
  )
}

function shorten(line: string): string {
  const text = line.replace(/\r?\n$/, '').replace(/\r$/, '')
  return text.length > MAX_UNITS ? `${text.slice(0, MAX_UNITS)}…` : text
}
