import { MARK_START } from '../files/secrets/index.ts'
import { marksOf, refuseMarksOver } from '../files/secrets/refusals.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import type { Backend, StagedContent } from '../storage/backend.ts'
import { largeBounds } from '../storage/large-bounds.ts'
import { throwIfAborted } from '../util/abort.ts'
import { byteText } from '../util/native-bytes.ts'
import { createPacer } from '../util/pacer.ts'

/** The reads of a backend that tell what a file hides. */
type Reads = Pick<Backend, 'stat' | 'read'>

/** Bytes by which the parts of a content overlap: no mark is longer. */
const OVERLAP_BYTES = 256

/** @throws ToolError `POLICY_DENIED_SECRET` for bytes with a mark that hides a secret of the file that they replace */
export async function refuseMarks(reads: Reads, path: Path, bytes: Uint8Array): Promise<void> {
  const text = byteText(bytes)
  if (!text.includes(MARK_START)) return
  const marks = await marksAt(reads, path)
  refuseMarksOver(path, text, () => marks)
}

/**
 * {@link refuseMarks} of a content that is not in memory. If the file is too large to have marks, any mark is refused.
 *
 * @param from where the bytes begin that are not in the file already
 * @throws ToolError `POLICY_DENIED_SECRET`, `ABORTED`
 */
export async function refuseMarksIn(
  { signal, ...reads }: Reads & { readonly signal: AbortSignal | undefined },
  path: Path,
  content: StagedContent,
  from: number,
): Promise<void> {
  const marks = await marksAt(reads, path)
  if (marks.length === 0) return
  const pause = createPacer()
  for (let at = Math.max(0, from - OVERLAP_BYTES); at < content.size; at += largeBounds.partBytes) {
    throwIfAborted(signal, `Writing ${quote(path)} was cancelled`, { path })
    await pause()
    const text = byteText(await content.read(at, at + largeBounds.partBytes + OVERLAP_BYTES))
    refuseMarksOver(path, text, () => marks)
  }
}

/** The marks of a file. Of one that is too large for marks, what every mark begins with. */
async function marksAt({ stat, read }: Reads, path: Path): Promise<readonly string[]> {
  const present = await stat(path)
  if (present?.type !== 'file') return []
  if (present.size > largeBounds.fileBytes) return [MARK_START]
  return marksOf(byteText((await read(path)).bytes))
}
