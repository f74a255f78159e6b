import { requireOrdinaryNames } from '../guard/require-hidden.ts'
import type { Path } from '../paths/logical-path.ts'
import { deniedError } from '../policy/evaluation.ts'
import type { BuiltinDraft } from '../tools/builtin-tool.ts'
import { authorizeChanges } from './authorize-changes.ts'
import { requireHiddenSecrets } from './require-hidden-secrets.ts'
import type { AuthorizedCall, AuthorizedChanges, CallAudit } from './state/call.ts'
import type { RunState } from './state/run-state.ts'
import type { TaintTracker } from './state/taint-tracker.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** A draft before its changes are authorized. */
export interface ProposedDraft {
  readonly draft: BuiltinDraft<unknown>
  readonly warnings: readonly string[]
  /** The files that the tool has read. */
  readonly reads: ReadonlySet<Path>
}

/** A draft with its evaluated changes. */
export interface EvaluatedDraft {
  readonly draft: BuiltinDraft<unknown>
  readonly changes: AuthorizedChanges
}

/** The state of the call that makes the changes. */
interface ChangingCall {
  readonly workspace: WorkspaceState
  readonly run: RunState
  readonly audit: CallAudit
  readonly taint: TaintTracker
  readonly options: { readonly signal?: AbortSignal | undefined }
}

/**
 * Evaluates every change of a draft. A dry run is evaluated completely, and then has no changes to commit.
 *
 * @param isToolCall whether a tool makes the changes. An operation, such as undo, brings back what was there
 */
export async function evaluateChanges(
  { workspace, run, audit, taint, options }: ChangingCall,
  call: AuthorizedCall,
  { draft, reads }: ProposedDraft,
  isToolCall: boolean,
): Promise<EvaluatedDraft> {
  const authorize = async (evaluated: BuiltinDraft<unknown>) =>
    taint.authorizeChanges(await authorizeChanges(workspace, run, call, evaluated), evaluated)
  const changes = await authorize(draft)
  audit.verdict = changes.verdict
  if (changes.verdict.decision === 'deny') throw deniedError(changes.verdict)
  const refusals = isToolCall ? workspace.secretRefusals : undefined
  await requireHiddenSecrets(workspace, call, draft, changes.changes, reads, refusals, options.signal)
  if (isToolCall) requireOrdinaryNames(changes.changes)
  const { changes: set = [] } = draft
  if (set.length > 0) await (draft.target ?? workspace.backend).checkPlaces?.(set)
  if (draft.dryRun !== true) return { draft, changes }
  run.rates.countWrite(changes.bytes)
  run.rates.refundWrite(changes.bytes)
  const dry = { ...draft, changes: [], copiedFrom: [] }
  return { draft: dry, changes: await authorize(dry) }
}
