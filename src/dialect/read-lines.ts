import type { Steps } from '../dialect.ts'
import { type Failure, ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import { attempt, call } from './steps.ts'

/** Lines of a file, and its version. */
export interface FileText {
  readonly content: string
  readonly sha256: string
  /** Of the whole file. */
  readonly totalLines: number
}

export interface LineRange {
  readonly startLine: number
  readonly maxLines: number
}

/** As many of the lines as fit. */
export interface SomeText extends FileText {
  readonly ok: true
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

/** As {@link readWhole}, from a line on and so many lines at most; a line is bounded, too. */
export function* readLines(path: string, range: LineRange): Steps<FileText> {
  return whole(path, (yield* gather(path, range, call)) as SomeText)
}

/** As {@link readLines}; a refusal of the file does not end the sequence, such as that of a directory. */
export function* attemptLines(path: string, range: LineRange): Steps<SomeText | Failure> {
  const read = yield* gather(path, range, attempt)
  return read.ok ? whole(path, read) : read
}

/** As {@link attemptLines}, cut at 64 KiB where there is more. */
export function readSome(path: string, range: LineRange): Steps<SomeText | Failure> {
  return gather(path, range, attempt)
}

function whole(path: string, read: SomeText): SomeText {
  if (!read.isCut) return read
  const why = `${quote(path)} is too large to be shown at once: over ${MOST_BYTES} bytes`
  throw new ToolError('FILE_TOO_LARGE', why, { path })
}

function* gather(path: string, range: LineRange, first: typeof attempt): Steps<SomeText | Failure> {
  let content = ''
  let bytes = 0
  let sha256: string | undefined
  let { startLine, maxLines } = range
  for (;;) {
    const read = sha256 === undefined ? first : call
    const part = yield* read('read_file', { path, startLine, maxLines: Math.min(maxLines, MOST_LINES) })
    if (!part.ok) return part
    if (sha256 !== undefined && part.sha256 !== sha256) {
      throw new ToolError('WRITE_CONFLICT', `${quote(path)} changed while it was read`, {
        path,
        hint: 'Read it again.',
      })
    }
    sha256 = part.sha256
    const size = utf8.encode(part.content).length
    const { totalLines } = part
    if (bytes > 0 && bytes + size > MOST_BYTES)
      return { ok: true, content, sha256, totalLines, endLine: startLine - 1, isCut: true }
    content += part.content
    bytes += size
    maxLines -= part.endLine - startLine + 1
    startLine = part.endLine + 1
    const found = { ok: true, content, sha256, totalLines, endLine: part.endLine } as const
    const isCutWithin = part.artifactUri !== undefined || (part.truncated && !/[\r\n]$/.test(part.content))
    if (isCutWithin || bytes > MOST_BYTES) return { ...found, isCut: true }
    if (startLine > totalLines || maxLines <= 0) return { ...found, isCut: false }
  }
}

const utf8 = new TextEncoder()
