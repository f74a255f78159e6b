import type { Success } from '../../call/state/call.ts'
import { ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import type { ToolOutput } from '../../tools/index.ts'
import { checkArgument, must, requireText } from '../../util/check-options.ts'
import { counted } from '../../util/counted.ts'
import { callNarrowed, limitOr, narrowInput } from './steps.ts'
import type { Steps } from './types.ts'

/** Lines of a file, and the version of the file. */
export interface FileText {
  readonly content: string
  readonly sha256: string
  /** Number of lines of the whole file. */
  readonly totalLines: number
  /** The label of the reading, if the policy has labels. */
  readonly label?: Success['label']
  /** The image or document that the file is; see `takingMedia`. There are no lines then. */
  readonly media?: ToolOutput<'read_file'>['media']
}

/** A range of lines, counted from 1. */
export interface LineRange {
  readonly startLine: number
  readonly maxLines: number
}

const isLineRange = must(
  'a range of lines, { startLine, maxLines } with two numbers; a maxLines of Infinity is for all lines',
  (range) => typeof Object(range).startLine === 'number' && typeof Object(range).maxLines === 'number',
)

/** As many of the requested lines as fit. */
export interface PartialText extends FileText {
  readonly bytes: number
  /** The first line in `content`. */
  readonly startLine: number
  /** The last line in `content`, complete or cut. */
  readonly endLine: number
  /** Whether requested lines are missing, or the last line is cut. */
  readonly isCut: boolean
  /** Whether requested lines are missing because of a limit on lines that the workspace sets. */
  readonly isLimited: boolean
  /** The column that continues the last line, if it is cut. */
  readonly nextColumn: number | undefined
}

/** Maximum number of bytes that one call in a dialect reads. */
const MAX_BYTES = 64 * 1024
/** Maximum number of lines that one `read_file` reads. */
const MAX_LINES = 1000

/**
 * Reads the whole text of a file of at most 64 KiB, in several calls if needed, all of one version. The run has then seen
 * the whole file and may replace it. Limits that the workspace sets (`readLines`, `readLinesHard`, `readBytes`) apply.
 *
 * @throws ToolError `FILE_TOO_LARGE`, or `WRITE_CONFLICT` if the file changes between the calls
 */
export function readWhole(path: string): Steps<PartialText> {
  requireText('readWhole()', 'path', path)
  return readLines(path, { startLine: 1, maxLines: Number.POSITIVE_INFINITY })
}

/**
 * The same as {@link readWhole}, for a range of lines.
 *
 * @param cutsLines returns the beginning of a line of more than 64 KiB, which `nextColumn` continues, and the first lines up
 *   to a limit of the workspace. Default: it fails
 */
export function* readLines(path: string, range: LineRange, cutsLines = false): Steps<PartialText> {
  checkArgument('readLines()', 'range', range, isLineRange)
  requireText('readLines()', 'path', path)
  const read = yield* readPart(path, range)
  const maxBytes = yield* limitOr('readBytes', MAX_BYTES)
  if (!read.isCut && read.bytes <= maxBytes) return read
  if (cutsLines && (read.nextColumn !== undefined || read.isLimited)) return read
  const limit = read.isLimited ? counted(read.endLine - read.startLine + 1, 'line') : counted(maxBytes, 'byte')
  const message = `${quote(path)} is too large to be shown at once: over ${limit}`
  throw new ToolError('FILE_TOO_LARGE', message, { path })
}

/**
 * The same as {@link readLines}, but cuts what is longer than about 64 KiB, instead of failing.
 *
 * @param isExact never returns more than 64 KiB. Default: stops after the reading that reaches them
 */
export function* readPart(path: string, range: LineRange, isExact = false): Steps<PartialText> {
  checkArgument('readPart()', 'range', range, isLineRange)
  requireText('readPart()', 'path', path)
  let content = ''
  let bytes = 0
  let sha256: string | undefined
  const narrowed = yield* narrowInput('read_file', { path, ...range })
  const { startLine: firstLine } = narrowed
  const maxBytes = yield* limitOr('readBytes', MAX_BYTES)
  const requested = yield* requestedLines(narrowed.maxLines)
  let { startColumn } = narrowed
  let startLine = firstLine
  let { maxLines } = requested
  for (;;) {
    const section = {}
    const limited = { path, startLine, maxLines: Math.min(maxLines, MAX_LINES) }
    const input = startColumn === undefined ? limited : { ...limited, startColumn }
    const part = yield* callNarrowed('read_file', input, section)
    startColumn = undefined
    if (sha256 !== undefined && part.sha256 !== sha256) {
      const message = `${quote(path)} changed while it was read`
      throw new ToolError('WRITE_CONFLICT', message, { path, hint: 'Read it again.' })
    }
    sha256 = part.sha256
    const { endLine, totalLines, nextColumn, label, media } = part
    const whole = { sha256, totalLines, label, startLine: firstLine, isLimited: false, ...(media && { media }) }
    const partBytes = utf8.encode(part.content).length
    if ((isExact || maxBytes !== MAX_BYTES) && bytes > 0 && bytes + partBytes > maxBytes) {
      yield { unseen: section }
      return { ...whole, content, bytes, endLine: startLine - 1, isCut: true, nextColumn: undefined }
    }
    content += part.content
    bytes += partBytes
    maxLines -= part.endLine - startLine + 1
    startLine = part.endLine + 1
    const isCutWithin = part.artifactUri !== undefined || nextColumn !== undefined
    const isAll = startLine > totalLines || maxLines <= 0
    if (isCutWithin || isAll || bytes >= maxBytes) {
      const isLimited = requested.isLimited && !isCutWithin && maxLines <= 0 && startLine <= totalLines
      const isCut = isCutWithin || !isAll || isLimited
      return { ...whole, content, bytes, endLine, isCut, isLimited, nextColumn }
    }
  }
}

/** Returns the number of lines to read. `isLimited`: the workspace allows fewer than were requested. */
function* requestedLines(requested: number): Steps<{ readonly maxLines: number; readonly isLimited: boolean }> {
  const soft = requested === Number.POSITIVE_INFINITY ? yield* limitOr('readLines', requested) : requested
  const maxLines = Math.min(soft, yield* limitOr('readLinesHard', soft))
  return { maxLines, isLimited: maxLines < requested }
}

const utf8 = new TextEncoder()

/**
 * The same as {@link readLines}, from line `first` to line `last`, both included. Default: the whole file.
 *
 * @throws ToolError `INVALID_INPUT` if `last` is less than `first`
 */
export function readBetween(
  path: string,
  first = 1,
  last = Number.POSITIVE_INFINITY,
  cutsLines = false,
): Steps<PartialText> {
  requireText('readBetween()', 'path', path)
  if (last < first) {
    throw new ToolError('INVALID_INPUT', `Invalid input: the last line, ${last}, is before the first, ${first}`, {
      hint: 'Lines count from 1, and both ends are included.',
    })
  }
  return readLines(path, { startLine: first, maxLines: last - first + 1 }, cutsLines)
}
