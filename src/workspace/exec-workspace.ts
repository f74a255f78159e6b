import { memory } from '../backends/memory/index.ts'
import { unknownTool } from '../call/parse-input.ts'
import { exec } from '../dialects/exec/index.ts'
import {
  checkArgument,
  checkOptions,
  isRecordOf,
  isText,
  must,
  type OptionTable,
  refuseSurplus,
} from '../util/check-options.ts'
import { createWorkspace, type DialectWorkspace, type DialectWorkspaceOptions } from './create-workspace.ts'
import { workspaceOptions } from './options.ts'

/** Options of {@link execWorkspace}: those of any workspace. Only the shell is required. */
export interface ExecWorkspaceOptions extends Partial<Omit<DialectWorkspaceOptions, 'mounts'>> {
  readonly shell: NonNullable<DialectWorkspaceOptions['shell']>
  /** The initial files, by path, in memory. Give either these or a `backend`. */
  readonly files?: Readonly<Record<string, string>>
}

const { mounts: _, ...ownOptions } = workspaceOptions
const optionTable: OptionTable<ExecWorkspaceOptions> = { ...ownOptions, files: isRecordOf(isText) }

/**
 * Creates a separate workspace for loops of writing, running and fixing code: files in memory, a policy that also allows
 * changes of generated and installed files, and the tools of {@link exec}.
 *
 * @example
 * const scratch = await execWorkspace({ shell: bash(), files: { 'sum.txt': '1 + 1' } })
 * await scratch.call('exec.run', { command: 'cat sum.txt' })
 */
export async function execWorkspace(requested: ExecWorkspaceOptions): Promise<DialectWorkspace> {
  refuseSurplus('execWorkspace()', 1, arguments)
  const { files, ...options } = checkOptions<ExecWorkspaceOptions>('execWorkspace()', requested, optionTable)
  if (files !== undefined && options.backend !== undefined) {
    throw new TypeError('execWorkspace() takes either files or a backend')
  }
  return createWorkspace({
    backend: memory(files),
    policy: {
      preset: 'autonomous',
      rules: [
        {
          name: 'nothing here is kept',
          action: 'allow',
          paths: ['**'],
          overrides: ['generated', 'vendored', 'lockfile'],
        },
      ],
    },
    dialect: exec(),
    ...options,
  })
}

/** The tools of workspaces in dialects, and the function that calls them: what adapters for models need. */
export type DialectTools = Pick<DialectWorkspace, 'tools' | 'callTool'>

const isDialectTools = must(
  'a workspace with a dialect, or an object with its tools and callTool()',
  (workspace) => Array.isArray(Object(workspace).tools) && typeof Object(workspace).callTool === 'function',
)

/**
 * Joins the tools of several workspaces for one agent, such as file tools and the tools of {@link execWorkspace}. Each call goes
 * to the workspace of its tool, whose policy, audit and undo apply.
 *
 * @throws TypeError if two workspaces have a tool of the same name
 * @example
 * const files = await createWorkspace({ backend: memory(), policy: 'autonomous', dialect: snakeCase() })
 * const scratch = await execWorkspace({ shell: bash() })
 * const tools = aiSdkTools(joinTools(files, scratch))
 */
export function joinTools(first: DialectTools, ...others: readonly DialectTools[]): DialectTools {
  for (const [index, workspace] of [first, ...others].entries()) {
    checkArgument('joinTools()', `workspaces[${index}]`, workspace, isDialectTools)
  }
  const owners = new Map<string, DialectTools>()
  for (const workspace of [first, ...others]) {
    for (const { name } of workspace.tools) {
      if (owners.has(name)) throw new TypeError(`Two workspaces have the tool "${name}", so a call of it is ambiguous`)
      owners.set(name, workspace)
    }
  }
  return {
    tools: [first, ...others].flatMap(({ tools }) => tools),
    async callTool(name, input, options) {
      const owner = owners.get(name)
      if (owner !== undefined) return owner.callTool(name, input, options)
      // The first workspace records and refuses the call. Its hint names only its own tools.
      const result = await first.callTool(name, input, options)
      const hint = result.failure?.hint
      const joinedHint = unknownTool(name, [...owners.keys()]).details.hint
      if (hint === undefined || joinedHint === undefined) return result
      return replaceText(result, hint, joinedHint)
    },
  }
}

/** Returns a copy of plain data with one text replaced in all texts, also in those that are JSON. */
function replaceText<T>(data: T, text: string, replacement: string): T {
  const inJson = (value: string) => JSON.stringify(value).slice(1, -1)
  return mapTexts(data, (value) =>
    value.replaceAll(text, () => replacement).replaceAll(inJson(text), () => inJson(replacement)),
  ) as T
}

function mapTexts(data: unknown, map: (text: string) => string): unknown {
  if (typeof data === 'string') return map(data)
  if (Array.isArray(data)) return data.map((item) => mapTexts(item, map))
  if (typeof data !== 'object' || data === null) return data
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, mapTexts(value, map)]))
}
