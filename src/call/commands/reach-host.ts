import { ToolError } from '../../errors.ts'
import type { Permission } from '../../policy/permissions.ts'
import type { CommandFiles } from '../../shells/types.ts'
import { requireReachable } from '../push-access.ts'
import type { SessionState } from './session-state.ts'

/** @throws ToolError if policy does not name the host, or labelled content must not be sent there. Records the refusal */
export function requireHost(
  { workspace, options }: SessionState,
  files: Pick<CommandFiles, 'refuse'>,
  url: URL,
  permission: Permission,
): void {
  try {
    requireReachable(workspace.policy, url)
    options.requireHostAllowed(url.hostname)
  } catch (error) {
    throw error instanceof ToolError ? files.refuse(permission, url.host, error) : error
  }
}
