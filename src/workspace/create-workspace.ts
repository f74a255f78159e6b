import type { Tool } from '../tools/define-tool.ts'
import { builtinTools } from '../tools/index.ts'
import { resolveToolSet } from '../tools/tool-sets.ts'
import { buildWorkspace } from './build-workspace.ts'
import { checkWorkspaceOptions } from './open-parts.ts'
import { type DialectWorkspaceOptions, type WorkspaceOptions, workspaceOptions } from './options.ts'
import type { DialectWorkspace, Workspace } from './types.ts'

export type { DialectWorkspaceOptions, RunOptions, WorkspaceOptions } from './options.ts'
export type { ToolResult } from './tool-types.ts'
export type {
  DialectRun,
  DialectWorkspace,
  Explanation,
  ToolDescription,
  UndoOptions,
  Workspace,
  WorkspaceRun,
} from './types.ts'

import { refuseSurplus } from '../util/check-options.ts'

/**
 * Creates a workspace: the files, tools and policy of an agent. With a `dialect`, its tools have the names and shapes of
 * another system.
 *
 * @throws TypeError for invalid options
 * @example
 * const workspace = await createWorkspace({
 *   backend: memory({ 'src/app.ts': 'export const answer = 41\n' }),
 *   policy: 'autonomous',
 * })
 */
export function createWorkspace<const Extra extends readonly Tool[] = readonly []>(
  options: DialectWorkspaceOptions<Extra>,
): Promise<DialectWorkspace<Extra>>
export function createWorkspace<const Extra extends readonly Tool[] = readonly []>(
  options: WorkspaceOptions<Extra>,
): Promise<Workspace<Extra>>
export async function createWorkspace(
  given: WorkspaceOptions | DialectWorkspaceOptions,
): Promise<Workspace | DialectWorkspace> {
  refuseSurplus('createWorkspace()', 1, arguments)
  const { dialect, ...options } = await checkWorkspaceOptions<DialectWorkspaceOptions>(given, workspaceOptions)
  const { tools = 'full' } = options
  const select = (registry: readonly string[]) => resolveToolSet(tools, registry)
  const source = { builtin: builtinTools, select }
  if (dialect === undefined) return buildWorkspace(options, source)
  if (dialect.versions !== true && options.staleGuard === 'shown') {
    throw new TypeError(`The dialect "${dialect.name}" names no versions, but staleGuard 'shown' requires them`)
  }
  const { agreeOnRoot, openDialect } = await import('./dialect-run.ts')
  const { shell, dialect: rooted } = agreeOnRoot(dialect, options.shell)
  return buildWorkspace({ ...options, ...(shell && { shell }) }, source, openDialect(rooted))
}
