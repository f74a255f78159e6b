import { type Failure, toFailure } from '../errors.ts'
import { openCallAudit } from './call-audit.ts'
import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Refuses and records a call whose arguments are invalid before any step of it. */
export async function refuseUncalled(
  { workspace, run }: { readonly workspace: WorkspaceState; readonly run: RunState },
  name: string,
  error: unknown,
): Promise<Failure> {
  const failure = toFailure(error)
  await openCallAudit(workspace, run, name, {}).writeOutcome(failure)
  return failure
}
