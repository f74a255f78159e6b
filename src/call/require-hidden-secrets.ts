import { HiddenSecrets } from '../files/secrets/hidden.ts'
import { requireHidden } from '../guard/require-hidden.ts'
import type { Path } from '../paths/logical-path.ts'
import { stateAt, stateWithin } from '../storage/versions.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'
import { createPacer } from '../util/pacer.ts'
import { runInTurns } from '../util/steps.ts'
import type { AuthorizedCall, KnownChange } from './state/call.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * Refuses a draft after which a part of a secret would show that marks hide now: in a replaced or deleted file, or in a file
 * that the call has read. Applies to every change set, whatever made it.
 *
 * @param reads the files that the call has read
 * @throws ToolError `POLICY_DENIED_SECRET`
 */
export async function requireHiddenSecrets(
  { backend, limits }: WorkspaceState,
  { input }: AuthorizedCall,
  draft: BuiltinDraft<unknown>,
  changes: readonly KnownChange[],
  reads: Iterable<Path>,
): Promise<void> {
  if (!changes.some(({ change: { to } }) => to?.type === 'file' || to?.type === 'link')) return
  const hidden = new HiddenSecrets(textsIn(input))
  const pause = createPacer()
  const changed = new Set(changes.map(({ change }) => change.path))
  for (const path of new Set([...reads, ...(draft.reads ?? []), ...(draft.copiedFrom ?? [])])) {
    if (changed.has(path)) continue
    const { state } = await stateWithin(backend, path, limits.textFileBytes)
    if (state?.type === 'file') await runInTurns(hidden.addInSteps(state.bytes), pause)
  }
  const complete = await Promise.all(
    changes.map(async ({ change, before, headOf = 0 }) => ({
      change,
      before:
        headOf > 0 && headOf <= limits.commandFileBytes ? await stateAt(draft.target ?? backend, change.path) : before,
    })),
  )
  await requireHidden(hidden, complete, pause)
}

/** Returns every text in the input of a call. The caller knows these. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}
