import { createVisibility, type Visibility } from '../guard/visibility.ts'
import { policyCall, type RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Returns what a run may list of the changes below a path. */
export function watchVisibility({ policy }: WorkspaceState, run: RunState, path: string): Visibility {
  const call = policyCall(run, 'list_directory', { path }, undefined)
  return createVisibility(policy, call, 'list', { rules: [] })
}
