import { MAX_BASE_BYTES } from '../backends/overlay/changed-paths.ts'
import type { OverlayBackend } from '../backends/overlay/index.ts'
import { type ErrorDetails, ToolError } from '../errors.ts'
import { MARK_PATTERN, redact } from '../files/secrets/index.ts'
import { refuseMarksOver } from '../files/secrets/refusals.ts'
import { mergeLines } from '../patch/merge-lines.ts'
import { type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Change, EntryState, Version } from '../storage/backend.ts'
import { sameState, sameVersion, stateAt, versionOf } from '../storage/versions.ts'
import { copyBytes, sameBytes } from '../util/bytes.ts'
import { byteText, fromByteText, indexOfByte } from '../util/native-bytes.ts'
import type { Workspace } from './types.ts'

/** The options of `commit()`. */
export type OverlayCommitOptions = NonNullable<Parameters<Workspace['commit']>[0]>

/** A file that cannot be merged. */
export type MergeConflict = NonNullable<ErrorDetails['conflicts']>[number]

/** The changes of an overlay, merged with what changed below it since. */
export interface MergedChanges {
  readonly changes: readonly Change[]
  /** The paths that changed on both sides. */
  readonly merged: readonly Path[]
  readonly conflicts: readonly MergeConflict[]
  /** The paths whose conflicts the caller has resolved. */
  readonly resolved: ReadonlySet<Path>
}

type Base = NonNullable<Awaited<ReturnType<OverlayBackend['baseOf']>>>

type FileState = Extract<EntryState, { readonly type: 'file' }>

/**
 * Merges the pending changes of an overlay three ways: the base is the file when it was first changed here, ours the file
 * below, theirs the one of the overlay.
 *
 * @throws ToolError `INVALID_INPUT` for a path in `resolve` that is not in conflict
 */
export async function mergePending(
  above: OverlayBackend,
  pending: readonly Change[],
  resolve: OverlayCommitOptions['resolve'] = {},
): Promise<MergedChanges> {
  const answers = new Map(Object.entries(resolve).map(([path, content]) => [parsePath(path) as string, content]))
  const changes: Change[] = []
  const merged: Path[] = []
  const conflicts: MergeConflict[] = []
  const resolved = new Set<Path>()
  for (const change of pending) {
    const { path } = change
    const ours = await stateAt(above.lower, path)
    // The content of a file identifies it, so only other entries need a tag.
    const tag = ours === null || ours.type === 'file' ? undefined : (await above.lower.stat(path))?.tag
    const base = await above.baseOf(path)
    if (isUnchanged(change, base?.version ?? null, ours, tag)) {
      changes.push(change)
      continue
    }
    merged.push(path)
    const expect = ours?.type === 'file' ? fileVersion(ours) : tag === undefined ? 'absent' : { tag }
    const result = mergeStates(change, base ?? { version: null }, ours)
    if ('to' in result) {
      changes.push({ path, expect, to: result.to })
      continue
    }
    const answer = answers.get(path)
    answers.delete(path)
    if (answer === undefined) {
      conflicts.push(result)
      continue
    }
    requireNoMark(result, answer)
    resolved.add(path)
    changes.push({ path, expect, to: stateOf(answer, modeOf(change.to) ?? modeOf(ours)) })
  }
  for (const path of answers.keys()) {
    throw new ToolError('INVALID_INPUT', `Cannot resolve ${quote(path)}: it is not in conflict`, {
      ...{ path, field: 'resolve' },
      hint: 'Pass only paths of the conflicts.',
    })
  }
  return { changes, merged, conflicts, resolved }
}

/** Whether the path is below as it was when it was first changed here. Directories and links that were recreated count as unchanged. */
function isUnchanged({ expect }: Change, base: Version, now: EntryState, tag: string | undefined): boolean {
  if (expect === 'any') return true
  if (base?.type === 'file' || now?.type === 'file') return sameVersion(base, versionOf(now))
  if (expect === 'absent') return now === null
  return 'tag' in expect && expect.tag === tag
}

const fileVersion = (state: FileState) => versionOf(state) as { readonly sha256: string }

/** Merges one path. Returns its state, or the conflict. */
function mergeStates(
  { path, to: theirs }: Change,
  { version, content }: Base,
  ours: EntryState,
): { readonly to: EntryState } | MergeConflict {
  if (sameState(ours, theirs, { modes: true })) return { to: ours }
  const states = [version, ours, theirs]
  if (states.some((state) => state !== null && state.type !== 'file')) return { path, kind: 'type' }
  const texts = {
    base: version === null ? null : textOf(content),
    ours: textIn(ours),
    theirs: textIn(theirs),
  }
  const conflict = (kind: MergeConflict['kind'], text?: string): MergeConflict => ({ path, kind, ...texts, text })
  if (ours?.type !== 'file' || theirs?.type !== 'file') return conflict('deleted')
  const mode = mergedMode(version?.type === 'file' ? version.mode : undefined, ours.mode, theirs.mode)
  if (mode === null) return conflict('mode')
  const base = version === null ? new Uint8Array() : content
  if (base === undefined) return conflict('large')
  const bytes = mergeBytes(base, ours.bytes, theirs.bytes)
  if (bytes === undefined) return { path, kind: 'binary' }
  if ('marked' in bytes) return conflict(version === null ? 'added' : 'content', textOf(bytes.marked))
  return { to: { type: 'file', bytes: bytes.merged, ...(mode === undefined ? {} : { mode }) } }
}

/** Merges three contents, in any encoding whose lines end with the byte `\n`. Returns undefined if one is not text. */
function mergeBytes(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array) {
  if (sameBytes(base, ours)) return { merged: theirs }
  if (sameBytes(base, theirs) || sameBytes(ours, theirs)) return { merged: ours }
  if ([base, ours, theirs].some(isBinary)) return undefined
  const names = { ours: 'below', theirs: 'this workspace' }
  const { text, conflicts } = mergeLines(byteText(base), byteText(ours), byteText(theirs), names)
  return conflicts.length > 0 ? { marked: fromByteText(text) } : { merged: fromByteText(text) }
}

const isBinary = (bytes: Uint8Array): boolean => indexOfByte(bytes, 0) !== -1

/** Merges permission bits. Returns null if both sides changed them in different ways. */
function mergedMode(base: number | undefined, ours: number | undefined, theirs: number | undefined) {
  if (ours === theirs || theirs === base || theirs === undefined) return ours
  return ours === base || ours === undefined ? theirs : null
}

function textIn(state: EntryState): string | null | undefined {
  return state?.type === 'file' ? textOf(state.bytes) : null
}

const MARK_HINT =
  'Make the lines in conflict equal on both sides with edit_file, merge again, and change them after that. Or pass a content without marks.'

/** @throws ToolError `POLICY_DENIED_SECRET` for an answer with a mark that hides a secret in the conflict */
function requireNoMark({ path, kind: _, ...texts }: MergeConflict, answer: string | Uint8Array | null): void {
  if (answer === null) return
  const content = typeof answer === 'string' ? answer : byteText(answer)
  const marks = Object.values(texts).flatMap((text) => text?.match(MARK_PATTERN) ?? [])
  refuseMarksOver(path, content, () => marks, MARK_HINT)
}

/** Returns a content that can be shown: UTF-8 of at most 1 MiB, with marks in place of its secrets. */
function textOf(bytes: Uint8Array | undefined): string | undefined {
  if (bytes === undefined || bytes.length > MAX_BASE_BYTES || isBinary(bytes)) return undefined
  try {
    return redact(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)).text
  } catch {
    return undefined
  }
}

const modeOf = (state: EntryState): number | undefined => (state?.type === 'file' ? state.mode : undefined)

function stateOf(answer: string | Uint8Array | null, mode: number | undefined): EntryState {
  if (answer === null) return null
  const bytes = typeof answer === 'string' ? new TextEncoder().encode(answer) : copyBytes(answer)
  return { type: 'file', bytes, ...(mode === undefined ? {} : { mode }) }
}
