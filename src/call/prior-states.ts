import type { EntryState } from '../storage/backend.ts'
import { stateAt } from '../storage/versions.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'
import type { KnownChange } from './state/call.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * What a draft replaces, whole, for the journal; `undefined` if that is more than the journal may keep. Judging has read most
 * of it already, but of very large files only the head.
 */
export async function readPriorStates(
  { backend, journal }: WorkspaceState,
  draft: BuiltinDraft<unknown>,
  known: readonly KnownChange[],
): Promise<EntryState[] | undefined> {
  if (draft.target !== undefined) return undefined
  let bytes = 0
  for (const { before, headOf } of known) bytes += before?.type === 'file' ? (headOf ?? before.bytes.length) : 0
  if (bytes > journal.maxBytes) return undefined
  const states: EntryState[] = []
  for (const { change, before, headOf } of known) {
    states.push(headOf === undefined ? before : await stateAt(backend, change.path))
  }
  return states
}
