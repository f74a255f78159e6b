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
import {
  columnOutOfRange,
  isInsideCharacter,
  type LineWindow,
  lineOutOfRange,
  type WindowRequest,
} from './line-window.ts'

/** Some lines of a file that is too large to load as a whole. */
export interface LargeSlice extends LineWindow {
  readonly sha256: string
  readonly encoding: Encoding
  readonly eol: LineEnd
  readonly bom: boolean
  /** The first bytes, enough to classify the file. */
  readonly head: Uint8Array
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
  const window = collectWindow(request)
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
  const slice = window.end(path)
  return {
    ...slice,
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
  return decodeText(isUtf16 || head.length < HEAD_BYTES ? head : withoutLastCharacter(head), path)
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

/** Collects the requested lines, and some text around them, from a text in parts. Columns count the text as stored. */
function collectWindow({ startLine, startColumn, maxLines, maxBytes }: WindowRequest) {
  const maxUnits = maxBytes + CONTEXT_UNITS
  let before = ''
  let after = ''
  let isOpen = false
  let newlines = 0
  let endsInLine = false
  /** Units of the first line that are still to be skipped. */
  let skip = startColumn - 1
  let isAfterLine = false
  return {
    add(part: string): void {
      if (part === '') return
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
      if (skip > 0) {
        const skipped = part.slice(from, from + skip)
        isAfterLine ||= skipped.includes('\n')
        before = (before + skipped).slice(-CONTEXT_UNITS)
        for (let at = skipped.indexOf('\n'); at !== -1; at = skipped.indexOf('\n', at + 1)) newlines += 1
        skip -= skipped.length
        from += skipped.length
      }
      if (after.length < maxUnits) after += part.slice(from, from + maxUnits - after.length)
      for (let at = part.indexOf('\n', from); at !== -1; at = part.indexOf('\n', at + 1)) newlines += 1
    },
    end(path: Path): LineWindow {
      const totalLines = newlines + (endsInLine ? 1 : 0)
      if (startLine > Math.max(1, totalLines)) throw lineOutOfRange(path, startLine, totalLines)
      if (startColumn > 1 && (isAfterLine || after === '')) throw columnOutOfRange(path, startLine, startColumn)
      // A column inside of a character is that of the character.
      const shift = isInsideCharacter(before + after, before.length) ? 1 : 0
      const cut = before.length - shift
      const request = { startLine, startColumn: startColumn - shift, maxLines, maxBytes }
      return windowIn(before.slice(0, cut), before.slice(cut) + after, request, totalLines)
    },
  }
}

/** Returns the requested lines of `after` with secrets marked. `before` and the end of `after` help to recognise secrets. */
function windowIn(
  before: string,
  after: string,
  { startLine, startColumn, maxLines, maxBytes }: WindowRequest,
  totalLines: number,
): LineWindow {
  const lines = sliceLines(after, 1, maxLines).content
  const bounded = boundContent(lines, maxBytes)
  const redaction = redact(before + after)
  const start = before.length
  let end = start + bounded.length
  if (bounded.length < lines.length && !bounded.endsWith('\n')) {
    const mark = redaction.marks.find(({ originalStart, originalEnd }) => originalStart < end && originalEnd > end)
    // A secret that fills the window is passed as a whole.
    if (mark !== undefined) end = mark.originalStart > start ? mark.originalStart : mark.originalEnd
  }
  const content = after.slice(0, end - start)
  const endLine = startLine + countLines(content) - 1
  const isCut = content.length < lines.length && !content.endsWith('\n')
  return {
    content: redaction.text.slice(redactedOffset(redaction, start, 'end'), redactedOffset(redaction, end, 'start')),
    startLine,
    endLine,
    totalLines,
    truncated: content.length < lines.length || endLine < totalLines,
    ...(isCut ? { nextColumn: startColumn + content.length } : {}),
  }
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
