import type { Tool } from '../tools/define-tool.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Returns whether a tool may run commands in the shell of the workspace. */
export function mayRunCommands({ shell, ownTools }: WorkspaceState, tool: Tool): boolean {
  return shell !== undefined && (tool.permission.startsWith('command:') || ownTools.has(tool))
}
