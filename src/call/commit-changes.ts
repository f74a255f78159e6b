import type { EntryState, Receipt } from '../storage/backend.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'
import type { CallAudit } from './state/call.ts'
import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * Commits the changes of a draft, all or none. The only step of a call that changes files.
 *
 * @param bytes the bytes that were counted against the rates; they are returned to the budget if the commit fails
 */
export async function commitChanges(
  workspace: WorkspaceState,
  run: RunState,
  { changes = [], target }: BuiltinDraft<unknown>,
  bytes: number,
  signal: AbortSignal | undefined,
): Promise<Receipt> {
  if (changes.length === 0) return { applied: [] }
  try {
    const at = workspace.clock()
    await workspace.diffs.beforeCommit(changes)
    if (target === undefined) for (const listener of workspace.commitListeners) await listener.hold(changes)
    return await (target ?? workspace.backend).commit(changes, {
      durability: 'durable',
      at,
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    run.rates.refundWrite(bytes)
    throw error
  }
}

/** Adds the replaced states to the journal, so that the call can be undone. `before`: `undefined` if too large to keep. */
export function addToJournal(
  workspace: WorkspaceState,
  run: RunState,
  audit: CallAudit,
  tool: string,
  before: readonly EntryState[] | undefined,
  receipt: Receipt,
): void {
  if (receipt.applied.length === 0) return
  workspace.journal.add({ callId: audit.id, runId: run.id, tool, at: workspace.clock() }, before, receipt)
  if (before === undefined)
    audit.warnings.push('This call cannot be undone: the replaced content is too large to keep or cannot be read')
}

/** Emits a `changed` event for the committed paths. */
export function emitChanges(workspace: WorkspaceState, run: RunState, callId: string, { applied }: Receipt): void {
  if (applied.length === 0) return
  const paths = applied.map(({ path }) => path)
  const listing = applied.some(({ before, after }) => (before === null) !== (after === null))
  workspace.events.emit({ type: 'changed', paths, listing, runId: run.id, callId })
}
