/**
 * `createWorkspace` without built-in tools, for pages that are to stay small. It takes the tools of `wardspace/tools` by import; guard,
 * policy, approval, audit and undo are those of `wardspace`.
 */

import { isBuiltinTool } from '../tools/builtin-tool.ts'
import type { Tool } from '../tools/define-tool.ts'
import { refuseSurplus } from '../util/check-options.ts'
import { buildWorkspace } from './build-workspace.ts'
import { checkWorkspaceOptions } from './open-parts.ts'
import { type WorkspaceOptions, workspaceOptions } from './options.ts'
import type { Workspace } from './types.ts'

export type { Workspace, WorkspaceRun } from './types.ts'

/** Options of `createWorkspace` of `wardspace/core`. */
export interface CoreWorkspaceOptions<
  Builtin extends readonly Tool[] = readonly [],
  Extra extends readonly Tool[] = readonly [],
> extends Omit<WorkspaceOptions<Extra>, 'tools' | 'dialect'> {
  /** Tools of `wardspace/tools`. Default: none. */
  readonly tools?: Builtin
}

/**
 * Creates a workspace that has only the given tools.
 *
 * @throws TypeError for invalid options
 * @example
 * import { createWorkspace } from 'wardspace/core'
 * import { listDirectory, readFile, searchText } from 'wardspace/tools'
 *
 * const workspace = await createWorkspace({
 *   backend: memory({ 'src/app.ts': 'export const answer = 41\n' }),
 *   policy: 'readOnly',
 *   tools: [listDirectory, readFile, searchText],
 * })
 */
export async function createWorkspace<
  const Builtin extends readonly Tool[] = readonly [],
  const Extra extends readonly Tool[] = readonly [],
>(options: CoreWorkspaceOptions<Builtin, Extra>): Promise<Workspace<Extra, Builtin[number]>> {
  refuseSurplus('createWorkspace()', 1, arguments)
  const { tools = [], ...others } = await checkWorkspaceOptions<CoreWorkspaceOptions<readonly Tool[]>>(
    options,
    coreOptions,
  )
  const names = requireBuiltinTools(tools)
  const workspace: unknown = await buildWorkspace({ ...others, tools: names }, { builtin: tools, select: () => names })
  return workspace as Workspace<Extra, Builtin[number]>
}

/** The dialects of `wardspace` need all built-in tools. */
const { dialect: _, ...coreOptions } = workspaceOptions

/** @throws TypeError for anything but a list of different built-in tools */
function requireBuiltinTools(tools: readonly Tool[]): readonly string[] {
  if (!Array.isArray(tools)) {
    throw new TypeError('Option "tools" of createWorkspace() must be a list of tools of wardspace/tools')
  }
  const names = new Set<string>()
  for (const [index, tool] of (tools as readonly unknown[]).entries()) {
    if (!isBuiltinTool(tool)) {
      throw new TypeError(`tools[${index}] is not a tool of wardspace/tools; pass own tools as extraTools`)
    }
    if (names.has(tool.name)) throw new TypeError(`Tool "${tool.name}" is listed twice, again at tools[${index}]`)
    names.add(tool.name)
  }
  return [...names]
}
