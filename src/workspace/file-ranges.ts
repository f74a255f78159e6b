import type { StepFiles } from '../call/commands/program-files.ts'
import { ToolError } from '../errors.ts'
import { MARK_START, mayHoldSecret, redactInSteps, utf16EncodingOf } from '../files/secrets/index.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import type { Stat } from '../storage/backend.ts'
import { largeBounds } from '../storage/large-bounds.ts'
import { throwIfAborted } from '../util/abort.ts'
import { createCheckedPacer } from '../util/checked-pacer.ts'
import { byteText } from '../util/native-bytes.ts'
import { setBounded } from '../util/set-bounded.ts'
import { runInTurns } from '../util/steps.ts'

/** Bytes read around a part of a larger file, to recognize secrets that begin or end outside of it. */
const CONTEXT_BYTES = 64 * 1024

/** The version of a file that a stream reads. */
interface FileVersion {
  readonly path: Path
  readonly stat: Pick<Stat, 'size' | 'tag'>
}

/**
 * Returns the bytes `[start, end)` of a file, with its tag. A file up to {@link largeBounds.fileBytes} is read whole, so that all of
 * its secrets become marks, until it is known that it has none.
 */
export async function readRange(
  step: StepFiles,
  requestedPath: string,
  start = 0,
  end: number = Number.POSITIVE_INFINITY,
): Promise<{ readonly bytes: Uint8Array; readonly tag: string | undefined }> {
  const { path, asked } = step.accesses[0] ?? {}
  const stat = path === undefined ? undefined : await step.drafts.stat(path)
  if (path === undefined || stat?.type !== 'file') {
    return { bytes: (await step.files.read(requestedPath)).subarray(start, end), tag: stat?.tag }
  }
  const { size, tag } = stat
  const { withoutSecrets, files } = step
  const isLarge = size > largeBounds.fileBytes
  if (isLarge || withoutSecrets?.get(path) === tag) {
    try {
      const to = Math.min(end, size)
      const bytes = new Uint8Array(Math.max(0, to - start))
      for (let at = start; at < to; at += largeBounds.streamPartBytes) {
        bytes.set(
          await readWindow(step, { path, stat }, at, Math.min(to, at + largeBounds.streamPartBytes)),
          at - start,
        )
      }
      // The name that was asked for may have a label as well.
      files.noteMetadata([asked as string as Path])
      return { bytes, tag }
    } catch (error) {
      // Otherwise the file has changed, although its tag is the same.
      if (isLarge || !(error instanceof ToolError) || error.code !== 'FILE_TOO_LARGE') throw error
    }
  }
  const bytes = await files.read(requestedPath)
  const isMarked = utf16EncodingOf(bytes) !== undefined || byteText(bytes).includes(MARK_START)
  // Smaller files are searched each time.
  if (withoutSecrets !== undefined && size > CONTEXT_BYTES && !isMarked) setBounded(withoutSecrets, path, tag)
  return { bytes: bytes.subarray(start, end), tag }
}

/**
 * Reads a part of a large file.
 *
 * @throws ToolError `FILE_TOO_LARGE` if it holds a secret: the marks of a file have numbers, which need all of it;
 *   `UNSUPPORTED_ENCODING` for UTF-16, in which secrets are not recognized by their bytes; `ABORTED`
 */
async function readWindow(
  { drafts, noteRead, secretScans, signal }: Pick<StepFiles, 'drafts' | 'noteRead' | 'secretScans' | 'signal'>,
  { path, stat }: FileVersion,
  start: number,
  end: number,
): Promise<Uint8Array> {
  const { size, tag } = stat
  const check = () => throwIfAborted(signal, `Reading ${quote(path)} was cancelled`, { path })
  check()
  const byteOrderMark = await drafts.read(path, { start: 0, end: 2, tag })
  if (utf16EncodingOf(byteOrderMark.bytes) !== undefined) {
    throw new ToolError(
      'UNSUPPORTED_ENCODING',
      `Cannot read ${quote(path)}: it is UTF-16 and over ${largeBounds.fileBytes} bytes`,
      { path },
    )
  }
  const from = Math.max(0, start - CONTEXT_BYTES)
  const { bytes } = await drafts.read(path, { start: from, end: Math.min(size, end + CONTEXT_BYTES), tag })
  noteRead(path, end - start)
  const [first, last] = [start - from, end - from]
  const { marks } = mayHoldSecret(bytes)
    ? await runInTurns(redactInSteps(byteText(bytes)), createCheckedPacer(check))
    : { marks: [] }
  const isNear = marks.some((mark) => mark.originalStart < last && mark.originalEnd > first)
  // A longer one begins or ends beyond the bytes around the part.
  const isLarge = size > largeBounds.fileBytes && !isNear
  const { scanOf } = isLarge ? await import('../tools/shared/file-scan.ts') : {}
  const secrets =
    (await scanOf?.(secretScans, path, stat).between({ reads: drafts, path, signal }, { start, end })) ?? []
  if (isNear || secrets.length > 0) {
    throw new ToolError('FILE_TOO_LARGE', `Cannot read ${quote(path)}: it holds a secret and is too large to mark it`, {
      ...{ path, sizeBytes: size, limit: largeBounds.fileBytes },
      hint: 'Read a range without the secret.',
    })
  }
  return bytes.subarray(first, last)
}
