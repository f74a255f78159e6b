import { ToolError } from '../../errors.ts'
import { createSha256 } from '../../files/hash/sha256.ts'
import type { Secret } from '../../files/secrets/formats.ts'
import { type Redaction, redactInSteps } from '../../files/secrets/index.ts'
import { clipped, SecretScan } from '../../files/secrets/scan.ts'
import { decodeText, detectLineEnd, type Encoding, type LineEnd, looksBinary } from '../../files/text/encoding.ts'
import { countLines, sliceLines } from '../../files/text/lines.ts'
import { utf8Length } from '../../files/text/utf8-length.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Stat } from '../../storage/backend.ts'
import { createPacer } from '../../util/pacer.ts'
import { runAtOnce, runInTurns } from '../../util/steps.ts'
import type { BuiltinContext } from '../builtin-tool.ts'
import { boundContent } from './bound-content.ts'
import { type FileScan, scanOf } from './file-scan.ts'
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
  context: Pick<BuiltinContext, 'files' | 'signal' | 'secretScans'>,
  path: Path,
  stat: Stat,
  request: WindowRequest,
): Promise<LargeSlice> {
  const hash = createSha256()
  const window = collectWindow(request)
  const ends = collectLineEnds()
  let search = searchText()
  let at = 0
  let head = new Uint8Array()
  let decoder: ReturnType<typeof createDecoder> | undefined
  let format: Format = { encoding: 'utf-8', bom: false }
  for await (const bytes of partsOf(context, path, stat)) {
    hash.update(bytes)
    if (decoder === undefined) {
      head = bytes.slice(0, HEAD_BYTES)
      format = formatOf(head, path)
      decoder = createDecoder(format, path)
      if (format.encoding === 'utf-8') search = searchBytes(scanOf(context.secretScans, path, stat), format)
    }
    const text = decoder.decode(bytes)
    ends.add(text)
    window.add(text)
    await search.add(text, bytes, at, window.isFull)
    at += bytes.length
  }
  decoder?.decode()
  await search.end()
  const slice = window.end(path, search)
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

/** Finds the secrets of a file while it is read. */
interface SecretSearch {
  /** Adds a part: its text, and the bytes at an offset. @param isEnough whether the secrets behind it will not be asked for */
  add(text: string, bytes: Uint8Array, offset: number, isEnough: boolean): Promise<void>
  end(): Promise<void>
  /** Returns the secrets in a text of the file, with offsets in it. @param before the length in units of what is before, and that in bytes */
  secretsIn(text: string, before: Lengths): readonly Secret[]
}

interface Lengths {
  readonly units: number
  readonly bytes: number
}

/** Searches the text, for encodings whose bytes are not those of secrets. */
function searchText(): SecretSearch {
  const scan = new SecretScan()
  const pause = createPacer()
  return {
    add: (text) => runInTurns(scan.add(text, false), pause),
    end: () => runInTurns(scan.add('', true), pause),
    secretsIn: (text, { units }) => scan.secretsIn(text, units),
  }
}

/** Searches the bytes, as far as nobody did before. */
function searchBytes(scan: FileScan, { bom }: Format): SecretSearch {
  let needed = Number.POSITIVE_INFINITY
  return {
    async add(_, bytes, offset, isEnough) {
      if (isEnough) needed = Math.min(needed, offset + bytes.length)
      if (scan.settled < needed) await scan.add(bytes, offset)
    },
    async end() {},
    secretsIn(text, before) {
      const start = before.bytes + (bom ? 3 : 0)
      const units = unitsByByte(text)
      const unitAt = (byte: number) => units[Math.min(Math.max(0, byte - start), units.length - 1)] as number
      const secrets = scan.known(start, start + units.length - 1)
      return clipped(
        secrets.map(({ kind, start, end }) => ({ kind, start: unitAt(start), end: unitAt(end) })),
        text,
        0,
      )
    },
  }
}

/** Returns the unit to which each byte of a text in UTF-8 belongs, and at the end its length. Half a character has half its bytes. */
function unitsByByte(text: string): Uint32Array {
  const units = new Uint32Array(utf8Length(text) + 1)
  for (let unit = 0, byte = 0; unit < text.length; unit++) {
    const next = byte + utf8Length(text.charAt(unit))
    units.fill(unit, byte, next)
    byte = next
  }
  units[units.length - 1] = text.length
  return units
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
  /** The lengths of the text before `after`. */
  const passed = { units: 0, bytes: 0 }
  const pass = (text: string) => {
    passed.units += text.length
    passed.bytes += utf8Length(text)
    before = (before + text).slice(-CONTEXT_UNITS)
  }
  return {
    /** Whether what follows is only counted. */
    get isFull(): boolean {
      return after.length >= maxUnits
    },
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
        const skipped = isOpen ? part.slice(0, from) : part
        pass(skipped)
        if (!isOpen) return
      }
      if (skip > 0) {
        const skipped = part.slice(from, from + skip)
        isAfterLine ||= skipped.includes('\n')
        pass(skipped)
        for (let at = skipped.indexOf('\n'); at !== -1; at = skipped.indexOf('\n', at + 1)) newlines += 1
        skip -= skipped.length
        from += skipped.length
      }
      if (after.length < maxUnits) after += part.slice(from, from + maxUnits - after.length)
      for (let at = part.indexOf('\n', from); at !== -1; at = part.indexOf('\n', at + 1)) newlines += 1
    },
    end(path: Path, search: SecretSearch): LineWindow {
      const totalLines = newlines + (endsInLine ? 1 : 0)
      if (startLine > Math.max(1, totalLines)) throw lineOutOfRange(path, startLine, totalLines)
      if (startColumn > 1 && (isAfterLine || after === '')) throw columnOutOfRange(path, startLine, startColumn)
      // A column inside of a character is that of the character.
      const shift = isInsideCharacter(before + after, before.length) ? 1 : 0
      const cut = before.length - shift
      const request = { startLine, startColumn: startColumn - shift, maxLines, maxBytes }
      const secrets = search.secretsIn(before + after, {
        units: passed.units - before.length,
        bytes: passed.bytes - utf8Length(before),
      })
      return windowIn(before.slice(0, cut), before.slice(cut) + after, request, { totalLines, secrets })
    },
  }
}

/** Returns the requested lines of `after` with secrets marked. `before` and the end of `after` help to recognise secrets. */
function windowIn(
  before: string,
  after: string,
  { startLine, startColumn, maxLines, maxBytes }: WindowRequest,
  { totalLines, secrets }: { readonly totalLines: number; readonly secrets: readonly Secret[] },
): LineWindow {
  const lines = sliceLines(after, 1, maxLines).content
  const bounded = boundContent(lines, maxBytes)
  const redaction = runAtOnce(redactInSteps(before + after, secrets))
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
