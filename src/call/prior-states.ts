import type { EntryState } from '../storage/backend.ts'
import { isLost, stateAt } from '../storage/versions.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'
import type { KnownChange } from './state/call.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * Returns the complete states that a draft replaces, for the journal, or `undefined` when they exceed its size or one is lost. The policy check
 * has read most of them already, but only the beginning of very large files. Lets the diffs note them as well.
 */
export async function readPriorStates(
  { backend, diffs, journal, origin }: WorkspaceState,
  draft: BuiltinDraft<unknown>,
  changes: readonly KnownChange[],
): Promise<EntryState[] | undefined> {
  const { target = backend } = draft
  await diffs.beforeCommit(changes.map(({ change }) => change))
  if (target !== backend && origin === undefined) return undefined
  let bytes = 0
  for (const { before, headOf } of changes) bytes += before?.type === 'file' ? (headOf ?? before.bytes.length) : 0
  if (bytes > journal.maxBytes || changes.some(({ before }) => isLost(before))) return undefined
  const states: EntryState[] = []
  for (const { change, before, headOf } of changes) {
    states.push(headOf === undefined ? before : await stateAt(target, change.path))
  }
  return states
}
