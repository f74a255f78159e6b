import { ToolError } from '../../errors.ts'
import type { SecretMark } from '../../files/secrets/index.ts'
import { countLines, sliceLines } from '../../files/text/lines.ts'
import { quote } from '../../paths/logical-path.ts'
import { boundContent } from './bound-content.ts'

/** The lines to read. */
export interface WindowRequest {
  readonly startLine: number
  /** The first character of the first line, in UTF-16 units from 1. */
  readonly startColumn: number
  readonly maxLines: number
  readonly maxBytes: number
}

/** The requested lines of a text, as far as they fit. */
export interface LineWindow {
  readonly content: string
  readonly startLine: number
  readonly endLine: number
  readonly totalLines: number
  readonly truncated: boolean
  /** The column at which the last line continues, if it is cut. */
  readonly nextColumn?: number
}

/**
 * Returns the requested lines. Lines over the byte limit are left out; a first line over the limit is cut between two
 * characters and outside of marks.
 *
 * @param marks of the text, in its order
 * @param totalLines the lines of the text, if they have been counted
 * @throws ToolError `INVALID_INPUT` for a start after the end of the text or of the line
 */
export function windowOf(
  text: string,
  { startLine, startColumn, maxLines, maxBytes }: WindowRequest,
  path: string,
  marks: readonly Pick<SecretMark, 'start' | 'end'>[] = [],
  totalLines?: number,
): LineWindow {
  const slice = sliceLines(text, startLine, maxLines, totalLines)
  if (startLine > Math.max(1, slice.totalLines)) throw lineOutOfRange(path, startLine, slice.totalLines)
  const skipped = columnOffset(slice.content, startColumn)
  if (skipped === undefined) throw columnOutOfRange(path, startLine, startColumn)
  const requested = slice.content.slice(skipped)
  let content = boundContent(requested, maxBytes)
  const isCut = content.length < requested.length && !content.endsWith('\n')
  if (isCut) {
    const start = slice.startOffset + skipped
    const end = start + content.length
    const mark = marks.find((other) => other.start < end && other.end > end)
    if (mark !== undefined && mark.start > start) content = requested.slice(0, mark.start - start)
  }
  return {
    content,
    startLine,
    endLine: content.length === requested.length ? slice.endLine : startLine + countLines(content) - 1,
    totalLines: slice.totalLines,
    truncated: content.length < requested.length || slice.endLine < slice.totalLines,
    ...(isCut ? { nextColumn: 1 + skipped + content.length } : {}),
  }
}

/**
 * Returns the offset of a column in the first line of a text. A column inside of a character is that of the character.
 * `undefined` after the end of the line.
 */
function columnOffset(text: string, column: number): number | undefined {
  if (column === 1) return 0
  const offset = column - 1
  const newline = text.indexOf('\n')
  if (offset >= (newline === -1 ? text.length : newline + 1)) return undefined
  return isInsideCharacter(text, offset) ? offset - 1 : offset
}

/** Whether an offset is between the halves of a surrogate pair. */
export function isInsideCharacter(text: string, offset: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(Math.max(0, offset - 1), offset + 1))
}

/** Returns the error for a start after the last line. */
export function lineOutOfRange(path: string, startLine: number, totalLines: number): ToolError {
  const message = `Line ${startLine} is after the last line ${totalLines} of ${quote(path)}`
  const hint = `Start at line ${Math.max(1, totalLines)} or before it.`
  return new ToolError('INVALID_INPUT', message, { path, field: 'startLine', totalLines, hint })
}

/** Returns the error for a start after the end of the first line. */
export function columnOutOfRange(path: string, startLine: number, startColumn: number): ToolError {
  const message = `startColumn ${startColumn} is after the end of line ${startLine} of ${quote(path)}`
  return new ToolError('INVALID_INPUT', message, { path, field: 'startColumn' })
}
