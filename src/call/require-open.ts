import { ToolError } from '../errors.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

type OpenState = Pick<WorkspaceState, 'isClosed' | 'origin'>

/** Returns the refusal if a workspace, or the one that it is a fork of, is closed. */
export function closedError({ isClosed, origin }: OpenState): ToolError | undefined {
  if (!isClosed) return origin && closedError(origin)
  return new ToolError('BACKEND_ERROR', 'The workspace is closed', { hint: 'Do not retry: no call works any more.' })
}

/** @throws ToolError `BACKEND_ERROR` if a workspace, or the one that it is a fork of, is closed */
export function requireOpen(workspace: OpenState): void {
  const error = closedError(workspace)
  if (error !== undefined) throw error
}
