import { modelTools, toModelText } from '../../src/adapters/json-schema/index.ts'
import { resultToText } from '../../src/adapters/model/result-text.ts'
import { nodeBackend } from '../../src/backends/node/index.ts'
import { anthropic } from '../../src/dialects/anthropic/index.ts'
import { createWorkspace, type ToolSet, type WorkspaceOptions } from '../../src/index.ts'
import { nodeShell } from '../../src/shells/node/index.ts'
import { type Measured, type Step, steps } from './measured.ts'
import { FAULT, MENDED, project, SOURCE } from './project.ts'

type Call = readonly [tool: string, input: object]

/** The work in our own tools. */
const own: Readonly<Record<Step, Call>> = {
  list: ['list_directory', { maxDepth: 3 }],
  search: ['search_text', { query: 'discount' }],
  read: ['read_file', { path: SOURCE }],
  'read again': ['read_file', { path: SOURCE, ifChanged: true }],
  edit: ['edit_file', { path: SOURCE, oldText: FAULT, newText: MENDED }],
  run: ['run_command', { command: 'node --test test' }],
  diff: ['diff_workspace', {}],
}

/** The same in Anthropic's: they search by commands. No command reads `.git` here, so there is no diff. */
const theirs: Readonly<Partial<Record<Step, Call>>> = {
  list: ['str_replace_based_edit_tool', { command: 'view', path: '/workspace' }],
  search: ['bash', { command: 'grep -rn discount src test' }],
  read: ['str_replace_based_edit_tool', { command: 'view', path: `/workspace/${SOURCE}` }],
  'read again': ['str_replace_based_edit_tool', { command: 'view', path: `/workspace/${SOURCE}` }],
  edit: [
    'str_replace_based_edit_tool',
    { command: 'str_replace', path: `/workspace/${SOURCE}`, old_str: FAULT, new_str: MENDED },
  ],
  run: ['bash', { command: 'node --test test' }],
}

/** Ours, as a model is shown them, or with whole results as JSON. */
export async function measureOwn(name: string, tools: ToolSet, form: 'text' | 'json'): Promise<Measured> {
  const root = project()
  const workspace = await createWorkspace({ ...options(root), tools })
  const results: Partial<Record<Step, string>> = {}
  for (const step of steps) {
    const [tool, input] = own[step]
    const result = await workspace.callTool(tool, input)
    if (!result.ok) throw new Error(`${step}: ${result.code}: ${result.message}`)
    results[step] = form === 'text' ? toModelText(tool, result) : JSON.stringify(result)
  }
  const definitions = modelTools(workspace.tools).map(({ inputSchema, ...tool }) => ({
    ...tool,
    input_schema: inputSchema,
  }))
  await workspace.close()
  return { name, definitions, results }
}

/** All of our tools, notes and plans included: only their definitions. */
export async function measureAll(name: string): Promise<Measured> {
  const policy = { preset: 'autonomous', memory: {} } as const
  const workspace = await createWorkspace({ ...options(project()), policy, mode: 'plan' })
  const definitions = modelTools(workspace.tools).map(({ inputSchema, ...tool }) => ({
    ...tool,
    input_schema: inputSchema,
  }))
  await workspace.close()
  return { name, definitions, results: {} }
}

/** Anthropic's tools, spoken as a dialect. */
export async function measureAnthropic(name: string): Promise<Measured> {
  const workspace = await createWorkspace({ ...options(project()), dialect: anthropic() })
  const results: Partial<Record<Step, string>> = {}
  for (const step of steps) {
    const [tool, input] = theirs[step] ?? []
    if (tool === undefined) continue
    const { text, isError } = resultToText(tool, await workspace.callTool(tool, input))
    if (isError) throw new Error(`${step}: ${text}`)
    results[step] = text
  }
  const definitions = modelTools(workspace.tools).map(({ inputSchema, ...tool }) => ({
    ...tool,
    input_schema: inputSchema,
  }))
  await workspace.close()
  return { name, definitions, results }
}

function options(root: string): WorkspaceOptions {
  return {
    backend: nodeBackend(root),
    policy: { preset: 'autonomous', commands: {} },
    shell: nodeShell({ root }),
    approve: () => 'allow',
    run: { id: 'a1b2c3d4-0000-4000-8000-a1b2c3d4e5f6' },
  }
}
