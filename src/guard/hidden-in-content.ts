import { ToolError } from '../errors.ts'
import type { HiddenSecrets, ShortCounts } from '../files/secrets/hidden.ts'
import { utf16EncodingOf } from '../files/secrets/index.ts'
import { requireOpen, revealedError } from '../files/secrets/refusals.ts'
import { type Path, quote } from '../paths/logical-path.ts'
import { largeBounds } from '../storage/large-bounds.ts'
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
 * @throws ToolError `POLICY_DENIED_SECRET`; `LIMIT_EXCEEDED` for UTF-16 beside hidden secrets, which has no such search
 */
export async function requireHiddenInContent(
  hidden: HiddenSecrets,
  { path, before, after, knowsBefore }: ContentReplacement,
  pause: () => Promise<void> | undefined,
): Promise<void> {
  if (before !== undefined && !knowsBefore) {
    for await (const { bytes } of windowsOf(before)) await runInTurns(hidden.addInSteps(bytes), pause)
  }
  if (hidden.isEmpty) return
  requireOpen(hidden, path)
  if (utf16EncodingOf(await after.read(0, 2)) !== undefined) {
    throw new ToolError('LIMIT_EXCEEDED', `Cannot change ${quote(path)}: it is UTF-16 and too large to search`, {
      path,
      limit: 'bytes of UTF-16 that replace a file with secrets',
      hint: 'Write UTF-8.',
    })
  }
  const shown: ShortCounts = { hidden: new Map(), visible: new Map() }
  for await (const { bytes, start, end } of windowsOf(after)) {
    const mark = await runInTurns(hidden.findInPart(bytes, start, end), pause)
    if (mark !== undefined) throw revealedError(hidden, path, mark)
    if (hidden.hasShort) await runInTurns(hidden.countShort(bytes, start, end, shown), pause)
  }
  if (!hidden.hasShort) return
  const present: ShortCounts = { hidden: new Map(), visible: new Map() }
  for await (const { bytes, start, end } of before === undefined ? [] : windowsOf(before))
    await runInTurns(hidden.countShort(bytes, start, end, present), pause)
  const mark = hidden.findShort(present, shown)
  if (mark !== undefined) throw revealedError(hidden, path, mark)
}

/** Yields a content in parts: the bytes of each between `start` and `end`, and what is around them. */
async function* windowsOf({ size, read }: ContentReads) {
  for (let at = 0; at < size; at += largeBounds.partBytes) {
    const from = Math.max(0, at - CONTEXT_BYTES)
    const bytes = await read(from, Math.min(size, at + largeBounds.partBytes + CONTEXT_BYTES))
    yield { bytes, start: at - from, end: Math.min(size, at + largeBounds.partBytes) - from }
  }
}
