import { ToolError } from '../errors.ts'
import { type ContentPart, type HiddenSecrets, MAX_SECRET_UNITS, type SecretCounts } from '../files/secrets/hidden.ts'
import { MARK_START, utf16EncodingOf } from '../files/secrets/index.ts'
import { requireOpen, revealedError } from '../files/secrets/refusals.ts'
import { SecretScan } from '../files/secrets/scan.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import { largeBounds } from '../storage/large-bounds.ts'
import { byteText } from '../util/native-bytes.ts'
import { runInTurns } from '../util/steps.ts'

/** A content that is read part by part. */
export interface ContentReads {
  /** Bytes. */
  readonly size: number
  read(start: number, end: number): Promise<Uint8Array>
}

/** A content that replaces another one at a path. Neither is in memory. */
export interface ContentReplacement {
  readonly path: Path
  /** Absent if there is no file. */
  readonly before: ContentReads | undefined
  readonly after: ContentReads
  /** Whether the secrets of `before` are in the hidden ones already. */
  readonly knowsBefore: boolean
}

/** Bytes read around each part, to recognize what begins or ends outside. */
const CONTEXT_BYTES = 64 * 1024

/**
 * {@link requireHidden} of a content that is too large for memory. Searches all of it, part by part.
 *
 * @param pause called between the parts, too
 * @throws ToolError `POLICY_DENIED_SECRET`; `LIMIT_EXCEEDED` for UTF-16 beside hidden secrets, which has no such search; what `pause` throws
 */
export async function requireHiddenInContent(
  hidden: HiddenSecrets,
  { path, before, after, knowsBefore }: ContentReplacement,
  pause: () => Promise<void> | undefined,
): Promise<void> {
  let scan: SecretScan | undefined
  const partsBefore = async function* (): AsyncGenerator<ContentPart> {
    if (before === undefined) return
    scan ??= await searched(before, pause)
    yield* partsOf(before, scan, pause)
  }
  if (!knowsBefore) for await (const part of partsBefore()) await runInTurns(hidden.addPart(part), pause)
  if (hidden.isEmpty) return
  requireOpen(hidden, path)
  if (utf16EncodingOf(await after.read(0, 2)) !== undefined) {
    throw new ToolError('LIMIT_EXCEEDED', `Cannot change ${quote(path)}: it is UTF-16 and too large to search`, {
      path,
      limit: 'bytes of UTF-16 that replace a file with secrets',
      hint: 'Write UTF-8.',
    })
  }
  const refuseIf = (mark: string | undefined) => {
    if (mark === undefined) return
    requireOpen(hidden, path)
    throw revealedError(hidden, path, mark)
  }
  const shown = noCounts()
  for await (const part of partsOf(after, await searched(after, pause), pause)) {
    refuseIf(await runInTurns(hidden.findInPart(part), pause))
    if (hidden.needsCounts) await runInTurns(hidden.countPart(part, shown), pause)
  }
  if (!hidden.needsCounts) return
  const present = noCounts()
  for await (const part of partsBefore()) await runInTurns(hidden.countPart(part, present), pause)
  refuseIf(hidden.findByCounts(present, shown))
}

const noCounts = (): SecretCounts => ({ hidden: new Map(), visible: new Map(), split: new Map() })

/** Finds the secrets of a content, of whatever length. */
async function searched({ size, read }: ContentReads, pause: () => Promise<void> | undefined): Promise<SecretScan> {
  const scan = new SecretScan()
  for (let at = 0; at < size; at += largeBounds.partBytes) {
    const end = Math.min(size, at + largeBounds.partBytes)
    await runInTurns(scan.add(byteText(await read(at, end)), end === size), pause)
    await pause()
  }
  return scan
}

/** Yields a content in parts, with what is around each. A secret that begins in a part is in it as a whole. */
async function* partsOf(
  { size, read }: ContentReads,
  scan: SecretScan,
  pause: () => Promise<void> | undefined,
): AsyncGenerator<ContentPart> {
  for (let at = 0; at < size; at += largeBounds.partBytes) {
    await pause()
    const from = Math.max(0, at - CONTEXT_BYTES)
    const end = Math.min(size, at + largeBounds.partBytes)
    const last = scan.between(at, end).at(-1)
    // Of a private key, each line counts by itself.
    const lastEnd = last === undefined || last.kind === 'private-key' ? end : last.end
    if (lastEnd - end > MAX_SECRET_UNITS) {
      throw new ToolError('LIMIT_EXCEEDED', 'A secret of the file is too long to compare', {
        limit: 'bytes of a secret in a large file',
        value: MAX_SECRET_UNITS,
        hint: 'Leave the file as it is.',
      })
    }
    const text = byteText(await read(from, Math.min(size, Math.max(lastEnd, end + CONTEXT_BYTES))))
    const marks = scan.secretsIn(text, from).map(({ kind, start, end: originalEnd }, index) => ({
      ...{ kind, originalStart: start, originalEnd },
      mark: `${MARK_START}${kind}:${index + 1}]`,
    }))
    yield { text, marks, start: at - from, end: end - from }
  }
}
