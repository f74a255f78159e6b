import type { Steps } from '../dialect.ts'
import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import { call } from './steps.ts'

/** Lines of a file, and its version. */
export interface FileText {
  readonly content: string
  readonly sha256: string
  /** Of the whole file. */
  readonly totalLines: number
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
export function* readLines(path: string, range: { startLine: number; maxLines: number }): Steps<FileText> {
  let content = ''
  let sha256: string | undefined
  let { startLine, maxLines } = range
  for (;;) {
    const part = yield* call('read_file', { path, startLine, maxLines: Math.min(maxLines, MOST_LINES) })
    if (sha256 !== undefined && part.sha256 !== sha256) {
      throw new ToolError('WRITE_CONFLICT', `${quote(path)} changed while it was read`, {
        path,
        hint: 'Read it again.',
      })
    }
    sha256 = part.sha256
    content += part.content
    const isCut = part.artifactUri !== undefined || (part.truncated && !/[\r\n]$/.test(part.content))
    if (isCut || utf8.encode(content).length > MOST_BYTES) {
      throw new ToolError(
        'FILE_TOO_LARGE',
        `${quote(path)} is too large to be shown at once: over ${MOST_BYTES} bytes`,
        {
          path,
        },
      )
    }
    maxLines -= part.endLine - startLine + 1
    startLine = part.endLine + 1
    if (startLine > part.totalLines || maxLines <= 0) return { content, sha256, totalLines: part.totalLines }
  }
}

const utf8 = new TextEncoder()
