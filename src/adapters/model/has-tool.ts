import type { Failure } from '../../errors.ts'
import type { WorkspaceRun } from '../../workspace/types.ts'

/** Returns whether a workspace has its own tool with that name. */
export async function hasTool(own: Pick<WorkspaceRun, 'explainTool'>, name: string): Promise<boolean> {
  const explained = await own.explainTool(name, {})
  return explained.ok || !missingToolCodes.has(explained.code)
}

const missingToolCodes: ReadonlySet<Failure['code']> = new Set(['UNKNOWN_TOOL', 'READ_ONLY', 'SHELL_UNAVAILABLE'])
