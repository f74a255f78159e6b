import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Whether the run cannot change files because its plan is not approved. */
export function isInPlanMode(workspace: WorkspaceState, run: RunState): boolean {
  return workspace.mode === 'plan' && run.plan === undefined
}
