import { ToolError } from '../../errors.ts'
import { createSha256 } from '../../files/hash/sha256.ts'
import { type Redaction, redact } from '../../files/secrets/index.ts'
import { decodeText, detectLineEnd, type Encoding, type LineEnd, looksBinary } from '../../files/text/encoding.ts'
import { countLines, sliceLines } from '../../files/text/lines.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import type { BuiltinContext } from '../builtin-tool.ts'
import { boundContent } from './bound-content.ts'
import { partsOf } from './file-version.ts'

/** Some lines of a file that is too large to load as a whole. */
export interface LargeSlice {
  readonly content: string
  readonly startLine: number
  readonly endLine: number
  readonly totalLines: number
  readonly sha256: string
  readonly truncated: boolean
  /** Column that continues a cut line. Columns of a large file count its stored text. */
  readonly nextColumn?: number
  readonly encoding: Encoding
  readonly eol: LineEnd
  readonly bom: boolean
  /** The first bytes, enough to classify the file. */
  readonly head: Uint8Array
}

/** The lines to read. */
export interface WindowRequest {
  readonly startLine: number
  /** First column of the first line, from 1. */
  readonly startColumn: number
  readonly maxLines: number
  readonly maxBytes: number
}

/**
 * Reads lines of a large file in one pass over its parts. Hash, line count and line ends cover the whole file; the text
 * covers the requested lines, with secrets marked. Only a few parts are in memory at once.
 *
 * @throws ToolError `UNSUPPORTED_BINARY`, `UNSUPPORTED_ENCODING`, `WRITE_CONFLICT` if the file changes during the
 *   read, `INVALID_INPUT` for lines after the end, `ABORTED`
 */
export async function readLargeFile(
  context: Pick<BuiltinContext, 'files' | 'signal'>,
  path: Path,
  stat: Stat,
  request: WindowRequest,
): Promise<LargeSlice> {
  const hash = createSha256()
  const window = collectWindow(path, request)
  const ends = collectLineEnds()
  let head = new Uint8Array()
  let decoder: ReturnType<typeof createDecoder> | undefined
  let format: Format = { encoding: 'utf-8', bom: false }
  for await (const bytes of partsOf(context, path, stat)) {
    hash.update(bytes)
    if (decoder === undefined) {
      head = bytes.slice(0, HEAD_BYTES)
      format = formatOf(head, path)
      decoder = createDecoder(format, path)
    }
    const text = decoder.decode(bytes)
    ends.add(text)
    window.add(text)
  }
  decoder?.decode()
  const slice = window.end()
  return {
    ...slice,
    startLine: request.startLine,
    sha256: hash.digest(),
    encoding: format.encoding,
    bom: format.bom,
    eol: ends.end(),
    head,
  }
}

const HEAD_BYTES = 64 * 1024

/** UTF-16 units kept around the window, to recognise secrets that begin or end outside of it. */
const CONTEXT_UNITS = 64 * 1024

interface Format {
  readonly encoding: Encoding
  readonly bom: boolean
}

/** Decodes a file in parts, as strictly as `decodeText`. A call without bytes ends the text. */
function createDecoder({ encoding, bom }: Format, path: Path) {
  const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true })
  let isFirst = true
  return {
    decode(bytes?: Uint8Array): string {
      try {
        const text = decoder.decode(bytes, { stream: bytes !== undefined })
        const skip = isFirst && bom
        isFirst = false
        return skip ? text.slice(1) : text
      } catch {
        throw new ToolError('UNSUPPORTED_ENCODING', `Cannot read ${quote(path)} as text: it is not ${encoding}`, {
          path,
        })
      }
    },
  }
}

/** Returns the format of a file by its first bytes. Throws the errors of `decodeText`. */
function formatOf(head: Uint8Array, path: Path): Format {
  const [a, b, c, d] = head
  const isUtf16 = ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) && !(c === 0 && d === 0)
  if (isUtf16 && !looksBinary(head)) return { encoding: a === 0xff ? 'utf-16le' : 'utf-16be', bom: true }
  return decodeText(isUtf16 ? head : withoutLastCharacter(head), path)
}

/** Drops a character that the end of the head may cut. */
function withoutLastCharacter(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end > 0 && (bytes[end - 1] as number) >= 0xc0 ? end - 1 : end)
}

/** Detects the line ends of a text in parts. */
function collectLineEnds() {
  let eol: LineEnd = 'none'
  let carried = ''
  const note = (text: string) => {
    const kind = detectLineEnd(text)
    if (kind !== 'none') eol = eol === 'none' || eol === kind ? kind : 'mixed'
  }
  return {
    add(part: string): void {
      const text = carried + part
      // A \r at the end of a part may belong to a \r\n.
      carried = text.endsWith('\r') ? '\r' : ''
      if (eol !== 'mixed') note(carried === '' ? text : text.slice(0, -1))
    },
    end(): LineEnd {
      note(carried)
      return eol
    },
  }
}

/** Collects the requested lines, and some text around them, from a text in parts. */
function collectWindow(path: Path, { startLine, startColumn, maxLines, maxBytes }: WindowRequest) {
  const maxUnits = maxBytes + CONTEXT_UNITS
  let before = ''
  let after = ''
  let isOpen = false
  let newlines = 0
  let endsInLine = false
  /** Units of the first line that are still to be skipped. */
  let skip = startColumn - 1
  return {
    add(part: string): void {
      endsInLine = !part.endsWith('\n')
      let from = 0
      if (!isOpen) {
        while (newlines < startLine - 1) {
          const at = part.indexOf('\n', from)
          if (at === -1) break
          newlines += 1
          from = at + 1
        }
        isOpen = newlines === startLine - 1
        before = (before + (isOpen ? part.slice(0, from) : part)).slice(-CONTEXT_UNITS)
        if (!isOpen) return
      }
      const start = from
      if (skip > 0) {
        const lineEnd = part.indexOf('\n', from)
        if (lineEnd !== -1 && lineEnd - from < skip) throw columnOutOfRange(path, startLine, startColumn)
        const skipped = part.slice(from, from + skip)
        before = (before + skipped).slice(-CONTEXT_UNITS)
        skip -= skipped.length
        from += skipped.length
      }
      if (after.length < maxUnits) after += part.slice(from, from + maxUnits - after.length)
      for (let at = part.indexOf('\n', start); at !== -1; at = part.indexOf('\n', at + 1)) newlines += 1
    },
    end(): { content: string; endLine: number; totalLines: number; truncated: boolean; nextColumn?: number } {
      const totalLines = newlines + (endsInLine ? 1 : 0)
      if (startLine > Math.max(1, totalLines)) throw lineOutOfRange(path, startLine, totalLines)
      if (skip > 0) throw columnOutOfRange(path, startLine, startColumn)
      const lines = sliceLines(after, 1, maxLines).content
      const content = boundContent(lines, maxBytes)
      const endLine = startLine + countLines(content) - 1
      const isCut = content.length < lines.length && !content.endsWith('\n')
      return {
        content: redactedPart(before + after, before.length, before.length + content.length),
        endLine,
        totalLines,
        truncated: content.length < lines.length || endLine < totalLines,
        ...(isCut ? { nextColumn: startColumn + content.length } : {}),
      }
    },
  }
}

/** Returns the error for a start after the last line. */
export function lineOutOfRange(path: string, startLine: number, totalLines: number): ToolError {
  const message = `startLine ${startLine} is after the last line ${totalLines} of ${quote(path)}`
  return new ToolError('INVALID_INPUT', message, { path, field: 'startLine', totalLines })
}

/**
 * Returns lines from a column of the first one on.
 *
 * @throws ToolError `INVALID_INPUT` for a column after the end of the line
 */
export function fromColumn(lines: string, startLine: number, startColumn: number, path: string): string {
  if (startColumn === 1) return lines
  const lineEnd = lines.indexOf('\n')
  if (startColumn > (lineEnd === -1 ? lines.length : lineEnd) + 1) throw columnOutOfRange(path, startLine, startColumn)
  return lines.slice(startColumn - 1)
}

function columnOutOfRange(path: string, startLine: number, startColumn: number): ToolError {
  const message = `startColumn ${startColumn} is after the end of line ${startLine} of ${quote(path)}`
  return new ToolError('INVALID_INPUT', message, { path, field: 'startColumn' })
}

/** Returns a part of the redacted text. Leaves out a mark that crosses an edge of the part. */
function redactedPart(text: string, start: number, end: number): string {
  const redaction = redact(text)
  return redaction.text.slice(redactedOffset(redaction, start, 'end'), redactedOffset(redaction, end, 'start'))
}

function redactedOffset({ marks }: Redaction, offset: number, edge: 'start' | 'end'): number {
  let shift = 0
  for (const mark of marks) {
    if (mark.originalStart >= offset) break
    if (mark.originalEnd > offset) return mark[edge]
    shift = mark.end - mark.originalEnd
  }
  return offset + shift
}
