import { ToolError } from '../../errors.ts'
import { createSha256 } from '../../files/hash/sha256.ts'
import { type Redaction, redact } from '../../files/secrets/index.ts'
import { decodeText, detectLineEnd, type Encoding, type LineEnd, looksBinary } from '../../files/text/encoding.ts'
import { countLines, sliceLines } from '../../files/text/lines.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import type { ToolContext } from '../define-tool.ts'
import { boundContent } from './bound-content.ts'
import { partsOf } from './file-version.ts'

/** A window of a file that is too large to be loaded whole. */
export interface LargeSlice {
  readonly content: string
  readonly startLine: number
  readonly endLine: number
  readonly totalLines: number
  readonly sha256: string
  readonly truncated: boolean
  readonly encoding: Encoding
  readonly eol: LineEnd
  readonly bom: boolean
  /** The first bytes, which tell what kind of file it is. */
  readonly head: Uint8Array
}

export interface WindowRequest {
  readonly startLine: number
  readonly maxLines: number
  readonly maxBytes: number
}

/**
 * Reads lines of a large file in one pass over its parts: hash, line count and line ends of all of it, but text of the
 * window only, with secrets marked. Only a few parts are in memory at once.
 *
 * @throws ToolError `UNSUPPORTED_BINARY`, `UNSUPPORTED_ENCODING`, `WRITE_CONFLICT` where the file changes meanwhile,
 *   `INVALID_INPUT` for a window after the end, `ABORTED`
 */
export async function readLargeFile(
  context: Pick<ToolContext, 'files' | 'signal'>,
  path: Path,
  stat: Stat,
  asked: WindowRequest,
): Promise<LargeSlice> {
  const hash = createSha256()
  const window = collectWindow(asked)
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
  const found = window.end(path)
  return {
    ...found,
    startLine: asked.startLine,
    sha256: hash.digest(),
    encoding: format.encoding,
    bom: format.bom,
    eol: ends.end(),
    head,
  }
}

const HEAD_BYTES = 64 * 1024

/** Text around the window, in UTF-16 units, in which a secret may begin or end that reaches into it. */
const AROUND = 64 * 1024

interface Format {
  readonly encoding: Encoding
  readonly bom: boolean
}

/** Decodes a file part by part, as strictly as a whole one. Without bytes: the end. */
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

/** What the head says, which is refused as in a whole file. */
function formatOf(head: Uint8Array, path: Path): Format {
  const [a, b, c, d] = head
  const isUtf16 = ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) && !(c === 0 && d === 0)
  if (isUtf16 && !looksBinary(head)) return { encoding: a === 0xff ? 'utf-16le' : 'utf-16be', bom: true }
  return decodeText(isUtf16 ? head : withoutLastCharacter(head), path)
}

/** The end of the head may lie within a character. */
function withoutLastCharacter(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > 0 && bytes.length - end < 3 && ((bytes[end - 1] as number) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(0, end > 0 && (bytes[end - 1] as number) >= 0xc0 ? end - 1 : end)
}

/** The kind of line end of a text that comes in parts. */
function collectLineEnds() {
  let seen: LineEnd = 'none'
  let carried = ''
  const note = (text: string) => {
    const kind = detectLineEnd(text)
    if (kind !== 'none') seen = seen === 'none' || seen === kind ? kind : 'mixed'
  }
  return {
    add(part: string): void {
      const text = carried + part
      // A \r at the end may be half of a line end.
      carried = text.endsWith('\r') ? '\r' : ''
      if (seen !== 'mixed') note(carried === '' ? text : text.slice(0, -1))
    },
    end(): LineEnd {
      note(carried)
      return seen
    },
  }
}

/** Collects the asked lines, and some text around them, from a text that comes in parts. */
function collectWindow({ startLine, maxLines, maxBytes }: WindowRequest) {
  const most = maxBytes + AROUND
  let before = ''
  let rest = ''
  let isOpen = false
  let newlines = 0
  let endsInLine = false
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
        before = (before + (isOpen ? part.slice(0, from) : part)).slice(-AROUND)
        if (!isOpen) return
      }
      if (rest.length < most) rest += part.slice(from, from + most - rest.length)
      for (let at = part.indexOf('\n', from); at !== -1; at = part.indexOf('\n', at + 1)) newlines += 1
    },
    end(path: Path): { content: string; endLine: number; totalLines: number; truncated: boolean } {
      const totalLines = newlines + (endsInLine ? 1 : 0)
      if (startLine > Math.max(1, totalLines)) throw afterTheEnd(path, startLine, totalLines)
      const lines = sliceLines(rest, 1, maxLines).content
      const shown = boundContent(lines, maxBytes)
      const endLine = startLine + countLines(shown) - 1
      return {
        content: redactedPart(before + rest, before.length, before.length + shown.length),
        endLine,
        totalLines,
        truncated: shown.length < lines.length || endLine < totalLines,
      }
    },
  }
}

/** The refusal of a window that begins after the last line. */
export function afterTheEnd(path: string, startLine: number, totalLines: number): ToolError {
  const message = `startLine ${startLine} is after the last line ${totalLines} of ${quote(path)}`
  return new ToolError('INVALID_INPUT', message, { path, field: 'startLine', totalLines })
}

/** A part of a text as it looks where the whole text is redacted; a mark over its edge is left out. */
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
