import { ToolError } from '../errors.ts'
import { quote } from '../paths/logical-path.ts'
import type { EntryState, Receipt } from '../storage/backend.ts'
import { versionAt } from '../storage/versions.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'
import { mapConcurrent } from '../util/map-concurrent.ts'
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
  { changes = [], target, observed }: BuiltinDraft<unknown>,
  bytes: number,
  signal: AbortSignal | undefined,
): Promise<Receipt> {
  if (changes.length === 0) return { applied: [] }
  try {
    const at = workspace.clock()
    if (target === undefined) for (const listener of workspace.commitListeners) await listener.hold(changes)
    if (observed !== undefined) await requireObserved(workspace, observed)
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

/** @throws ToolError `WRITE_CONFLICT` if a path is not as a program has seen it */
async function requireObserved(
  { backend }: WorkspaceState,
  observed: NonNullable<BuiltinDraft<unknown>['observed']>,
): Promise<void> {
  await mapConcurrent([...observed], async ([path, seen]) => {
    const now = await backend.stat(path)
    if (now?.type === seen.type && (seen.tag === undefined || now?.tag === seen.tag)) return
    const version = await versionAt(backend, path)
    throw new ToolError('WRITE_CONFLICT', `Cannot commit: ${quote(path)} has changed since the batch read it`, {
      ...{ path, currentSha256: version?.type === 'file' ? version.sha256 : null },
      hint: 'Run the whole batch again.',
    })
  })
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
