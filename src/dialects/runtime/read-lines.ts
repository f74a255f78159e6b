import { ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import { call } from './steps.ts'
import type { Steps } from './types.ts'

/** Lines of a file, and its version. */
export interface FileText {
  readonly content: string
  readonly sha256: string
  /** Of the whole file. */
  readonly totalLines: number
}

/** Lines of a file, counted from 1. */
export interface LineRange {
  readonly startLine: number
  readonly maxLines: number
}

/** As many of the lines as fit. */
export interface SomeText extends FileText {
  readonly bytes: number
  /** The last line that is there, as a whole or in part. */
  readonly endLine: number
  /** Whether lines that were asked for are missing, or the last one is cut. */
  readonly isCut: boolean
}

/** What a dialect reads at once. */
const MOST_BYTES = 64 * 1024
/** What one call reads. */
const MOST_LINES = 1000

/**
 * The whole text of a file of at most 64 KiB, in as many calls as it takes, all of one version: the run has then seen the
 * whole of it.
 *
 * @throws ToolError `FILE_TOO_LARGE`, and `WRITE_CONFLICT` where it changes meanwhile
 */
export function readWhole(path: string): Steps<FileText> {
  return readLines(path, { startLine: 1, maxLines: Number.POSITIVE_INFINITY })
}

/** As {@link readWhole}, from a line on and so many lines at most. */
export function* readLines(path: string, range: LineRange): Steps<FileText> {
  const read = yield* readSome(path, range)
  if (!read.isCut && read.bytes <= MOST_BYTES) return read
  const why = `${quote(path)} is too large to be shown at once: over ${MOST_BYTES} bytes`
  throw new ToolError('FILE_TOO_LARGE', why, { path })
}

/** As {@link readLines}; where there is more than 64 KiB, not much more than that. */
export function* readSome(path: string, range: LineRange): Steps<SomeText> {
  let content = ''
  let bytes = 0
  let sha256: string | undefined
  let { startLine, maxLines } = range
  for (;;) {
    const part = yield* call('read_file', { path, startLine, maxLines: Math.min(maxLines, MOST_LINES) })
    if (sha256 !== undefined && part.sha256 !== sha256) {
      const why = `${quote(path)} changed while it was read`
      throw new ToolError('WRITE_CONFLICT', why, { path, hint: 'Read it again.' })
    }
    sha256 = part.sha256
    content += part.content
    bytes += utf8.encode(part.content).length
    maxLines -= part.endLine - startLine + 1
    startLine = part.endLine + 1
    const { endLine, totalLines } = part
    const isCutWithin = part.artifactUri !== undefined || (part.truncated && !/[\r\n]$/.test(part.content))
    const isAll = startLine > totalLines || maxLines <= 0
    if (isCutWithin || isAll || bytes >= MOST_BYTES) {
      return { content, bytes, sha256, totalLines, endLine, isCut: isCutWithin || !isAll }
    }
  }
}

const utf8 = new TextEncoder()

/**
 * As {@link readWhole}, from one line to another, both included; without any it is the whole file.
 *
 * @throws ToolError `INVALID_INPUT` where the end lies before the start
 */
export function readBetween(path: string, first = 1, last = Number.POSITIVE_INFINITY): Steps<FileText> {
  if (last < first) {
    throw new ToolError('INVALID_INPUT', `Invalid input: the last line, ${last}, lies before the first, ${first}`, {
      hint: 'Lines count from 1, and both ends are included.',
    })
  }
  return readLines(path, { startLine: first, maxLines: last - first + 1 })
}
