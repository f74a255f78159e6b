import { modelTools, toModelText } from '../../src/adapters/json-schema/index.ts'
import { resultToText } from '../../src/adapters/model/result-text.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { anthropic } from '../../src/dialects/anthropic/index.ts'
import {
  createWorkspace,
  type DialectWorkspace,
  type ToolSet,
  type Workspace,
  type WorkspaceOptions,
} from '../../src/index.ts'
import { nodeShell } from '../../src/shells/node/index.ts'
import { type Measured, type Step, steps } from './measured.ts'
import { FAULT, FIXED, project, SOURCE } from './project.ts'

type Call = readonly [tool: string, input: object]

/** The calls of Wardspace's own tools. */
const wardspaceCalls: Readonly<Record<Step, Call>> = {
  list: ['list_directory', { maxDepth: 3 }],
  search: ['search_text', { query: 'discount' }],
  read: ['read_file', { path: SOURCE }],
  'read again': ['read_file', { path: SOURCE, ifChanged: true }],
  edit: ['edit_file', { path: SOURCE, oldText: FAULT, newText: FIXED }],
  run: ['run_command', { command: 'node --test test' }],
  diff: ['diff_workspace', {}],
}

/** The calls of Anthropic's tools, which search by commands. No command can read `.git` here, so there is no diff. */
const anthropicCalls: Readonly<Partial<Record<Step, Call>>> = {
  list: ['str_replace_based_edit_tool', { command: 'view', path: '/workspace' }],
  search: ['bash', { command: 'grep -rn discount src test' }],
  read: ['str_replace_based_edit_tool', { command: 'view', path: `/workspace/${SOURCE}` }],
  'read again': ['str_replace_based_edit_tool', { command: 'view', path: `/workspace/${SOURCE}` }],
  edit: [
    'str_replace_based_edit_tool',
    { command: 'str_replace', path: `/workspace/${SOURCE}`, old_str: FAULT, new_str: FIXED },
  ],
  run: ['bash', { command: 'node --test test' }],
}

/** The tools that the piece of work needs, and `write_file`. */
const workTools = [
  'list_directory',
  'search_text',
  'read_file',
  'edit_file',
  'write_file',
  'run_command',
  'diff_workspace',
] as const

/** The names of the rows that {@link measureWardspace} returns. */
export const wardspaceRows = [
  'Wardspace, all tools',
  'Wardspace, seven tools',
  'Wardspace, whole results as JSON',
  "Anthropic's editor, bash, memory (plain)",
] as const

/** Measures everything that needs no other packages. */
export async function measureWardspace(): Promise<readonly Measured[]> {
  const [all, seven, json, anthropicTools] = wardspaceRows
  return [
    await measureAll(all),
    await measureOwn(seven, workTools, 'text'),
    await measureOwn(json, workTools, 'json'),
    await measureAnthropic(anthropicTools),
  ]
}

/** Measures Wardspace's tools with results as text for a model, or as JSON. */
async function measureOwn(name: string, tools: ToolSet, form: 'text' | 'json'): Promise<Measured> {
  const workspace = await createWorkspace({ ...optionsFor(project()), tools })
  const results: Partial<Record<Step, string>> = {}
  for (const step of steps) {
    const [tool, input] = wardspaceCalls[step]
    const result = await workspace.callTool(tool, input)
    if (!result.ok) throw new Error(`${step}: ${result.code}: ${result.message}`)
    results[step] = form === 'text' ? toModelText(tool, result) : JSON.stringify(result)
  }
  return measured(name, workspace, results)
}

/** Measures the definitions of all tools, including notes and plans. */
async function measureAll(name: string): Promise<Measured> {
  const policy = { preset: 'autonomous', memory: {} } as const
  return measured(name, await createWorkspace({ ...optionsFor(project()), policy, mode: 'plan' }), {})
}

/** Measures Anthropic's tools, played by the dialect. */
async function measureAnthropic(name: string): Promise<Measured> {
  const workspace = await createWorkspace({ ...optionsFor(project()), dialect: anthropic() })
  const results: Partial<Record<Step, string>> = {}
  for (const step of steps) {
    const [tool, input] = anthropicCalls[step] ?? []
    if (tool === undefined) continue
    const { text, isError } = resultToText(tool, await workspace.callTool(tool, input))
    if (isError) throw new Error(`${step}: ${text}`)
    results[step] = text
  }
  return measured(name, workspace, results)
}

async function measured(
  name: string,
  workspace: Workspace | DialectWorkspace,
  results: Measured['results'],
): Promise<Measured> {
  const definitions = modelTools(workspace.tools).map(({ inputSchema, ...tool }) => ({
    ...tool,
    input_schema: inputSchema,
  }))
  await workspace.close()
  return { name, definitions, results }
}

function optionsFor(root: string): WorkspaceOptions {
  return {
    backend: nodeBackend(root),
    policy: { preset: 'autonomous', commands: {} },
    shell: nodeShell({ root }),
    approve: () => 'allow',
    run: { id: 'a1b2c3d4-0000-4000-8000-a1b2c3d4e5f6' },
  }
}
