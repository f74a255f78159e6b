import { HiddenSecrets, type SecretRefusals } from '../files/secrets/hidden.ts'
import { areWithoutSecrets } from '../files/secrets/index.ts'
import { marksOf, refuseMarksOver } from '../files/secrets/refusals.ts'
import type { ContentReads } from '../guard/hidden-in-content.ts'
import { requireHidden } from '../guard/require-hidden.ts'
import type { Path } from '../paths/logical-path.ts'
import type { StagedContent, StoredContent } from '../storage/backend.ts'
import { type StateReads, stateAt, stateWithin } from '../storage/versions.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'
import { throwIfAborted } from '../util/abort.ts'
import { createCheckedPacer } from '../util/checked-pacer.ts'
import { byteText } from '../util/native-bytes.ts'
import { runInTurns } from '../util/steps.ts'
import type { AuthorizedCall, KnownChange } from './state/call.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * Refuses a draft after which a part of a secret would show that marks hide now: in a replaced or deleted file, or in a file
 * that the call has read. Applies to every change set, whatever made it.
 *
 * @param reads the files that the call has read
 * @param refusals those of the workspace. `undefined` for an operation that brings back what was there
 * @throws ToolError `POLICY_DENIED_SECRET`, `ABORTED`
 */
export async function requireHiddenSecrets(
  { backend, limits }: WorkspaceState,
  { input, tool }: AuthorizedCall,
  draft: BuiltinDraft<unknown>,
  changes: readonly KnownChange[],
  reads: Iterable<Path>,
  refusals: SecretRefusals | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!changes.some(({ change: { to } }) => to?.type === 'file' || to?.type === 'link')) return
  const changed = new Set(changes.map(({ change }) => change.path))
  const unchanged = new Set(
    [...reads, ...(draft.reads ?? []), ...(draft.copiedFrom ?? [])].filter((path) => !changed.has(path)),
  )
  if (unchanged.size === 0 && changes.every(replacesNoSecret)) return
  if (refusals !== undefined) changes.forEach(requireNoMark)
  const hidden = new HiddenSecrets(textsIn(input), refusals)
  const pause = createCheckedPacer(() => throwIfAborted(signal, `${tool.name} was cancelled`))
  for (const path of unchanged) {
    const { state } = await stateWithin(backend, path, limits.textFileBytes)
    if (state?.type === 'file') await runInTurns(hidden.addInSteps(state.bytes), pause)
  }
  const complete: KnownChange[] = []
  for (const known of changes) {
    const { change, headOf = 0 } = known
    const isHead = headOf > 0 && headOf <= limits.commandFileBytes
    complete.push(isHead ? { change, before: await stateAt(draft.target ?? backend, change.path) } : known)
  }
  await requireHidden(hidden, complete, pause)
  for (const { change, headOf = 0, before } of changes) {
    const { path, to } = change
    // What moves shows where it was.
    if (to?.type !== 'file' || !isStaged(to.content)) continue
    const { requireHiddenInContent } = await import('../guard/hidden-in-content.ts')
    const reads = before?.type === 'file' ? await contentAt(draft.target ?? backend, path) : undefined
    const knowsBefore = headOf <= limits.commandFileBytes
    await requireHiddenInContent(hidden, { path, before: reads, after: to.content, knowsBefore }, pause)
  }
}

/**
 * A command that has read the file has its secrets again in place of their marks. What still has one was written from elsewhere,
 * and the secret would be lost.
 *
 * @throws ToolError `POLICY_DENIED_SECRET` for a content with a mark that hides a secret of the file that it replaces
 */
function requireNoMark({ change: { path, to }, before }: KnownChange): void {
  if (before?.type !== 'file' || to?.type !== 'file' || to.bytes === undefined) return
  refuseMarksOver(path, byteText(to.bytes), () => marksOf(byteText(before.bytes)))
}

/** Whether a content without secrets, or none, is replaced by one in memory: nothing that was hidden can show then. */
function replacesNoSecret({ change: { to }, before, headOf }: KnownChange): boolean {
  if (to?.type === 'file' && isStaged(to.content)) return false
  return before?.type !== 'file' || (headOf === undefined && areWithoutSecrets(before.bytes))
}

function isStaged(content: StoredContent | undefined): content is StagedContent {
  return content !== undefined && 'read' in content
}

/** Reads the present version of a file part by part. */
async function contentAt(reads: StateReads, path: Path): Promise<ContentReads | undefined> {
  const stat = await reads.stat(path)
  if (stat?.type !== 'file') return undefined
  const { size, tag } = stat
  return { size, read: async (start, end) => (await reads.read(path, { start, end, tag })).bytes }
}

/** Returns every text in the input of a call. The caller knows these. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
