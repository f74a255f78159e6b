import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** The run to which files belong. */
export const contextOfFiles = new WeakMap<object, { readonly workspace: WorkspaceState; readonly run: RunState }>()
