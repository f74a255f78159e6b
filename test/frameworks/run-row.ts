import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { transform } from 'esbuild'
import { modelTools, toModelText } from '../../src/adapters/json-schema/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'
import { type Block, blocksOf, readPages } from '../docs/blocks.ts'
import { commandsOf } from '../docs/commands.ts'
import { type ScriptedCall, startModelServer } from './model-server.ts'
import type { Row } from './rows.ts'

/** The columns of the matrix. */
export const columns = ['list', 'call', 'refuse', 'approve'] as const

/** The answer to each column: `yes`, or what came instead. */
export type Cells = Readonly<Record<(typeof columns)[number], string>>

/** A project in which the packages of a row are installed. */
export interface Project {
  readonly directory: string
  /** The executable of Node. */
  readonly node: string
}

/** Returns the blocks of a page with the lines of frameworks. */
export function frameworkBlocks(page = 'docs/guide/models.md'): readonly Block[] {
  return blocksOf(page, readPages().get(page) ?? '').filter(({ framework }) => framework !== undefined)
}

/** Returns the lines of a row, as a page has them. */
export function blockOf(row: Pick<Row, 'block' | 'name'>, page = 'docs/guide/models.md'): Block {
  const block = frameworkBlocks(page).find(({ framework }) => framework === row.block)
  if (block === undefined) throw new Error(`${page} has no lines for ${row.name}`)
  return block
}

const file = { path: 'n.txt' }
const calls: readonly ScriptedCall[] = [
  { name: 'read_file', input: file },
  { name: 'read_file', input: { path: '.env' } },
  // The policy of the page requires an approval.
  { name: 'edit_file', input: { ...file, oldText: '41', newText: '42' } },
  { name: 'read_file', input: file },
]

/** What a framework passed on: the names of the tools, and the texts of the results. */
interface Passed {
  readonly tools: readonly string[]
  readonly results: readonly string[]
}

/** Runs the lines of a row as they are in the page, and returns what a model or a person gets through the framework. */
export async function runRow(row: Row, project: Project): Promise<Cells> {
  const root = join(project.directory, 'root')
  rmSync(root, { recursive: true, force: true })
  mkdirSync(root)
  writeFileSync(join(root, 'n.txt'), '41\n')
  const passed = await { model: runModel, client: runClient, proxy: runProxy, command: runCommand }[row.kind](
    blockOf(row),
    { ...project, directory: root },
  )
  const expected = await expectedTexts()
  const { present = (text) => text } = row
  const at = (index: number) => {
    const [text, isError] = expected.results[index] ?? ['', false]
    return compare(passed.results[index], present(text, isError))
  }
  return {
    list: compare(passed.tools.toSorted().join(' '), expected.tools.toSorted().join(' ')),
    call: at(0),
    refuse: at(1),
    approve: at(2) === 'yes' ? at(3) : at(2),
  }
}

function compare(actual: string | undefined, expected: string): string {
  return actual === expected ? 'yes' : `no: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`
}

/** The tools of the workspace, and the text of each result with whether it is an error. */
async function expectedTexts() {
  const workspace = await createWorkspace({
    backend: memory({ 'n.txt': '41\n' }),
    policy: 'supervised',
    approve: () => 'allow',
  })
  const results: (readonly [text: string, isError: boolean])[] = []
  for (const { name, input } of calls) {
    const result = await workspace.callTool(name, input)
    results.push([toModelText(name, result), !result.ok])
  }
  return { tools: modelTools(workspace.tools).map(({ name }) => name), results }
}

async function runModel({ code }: Block, project: Project): Promise<Passed> {
  const finalText = 'It says 42.'
  const server = await startModelServer(calls, finalText)
  try {
    const output = await runProgram(code, project, server.env)
    const { tools, results } = server.received()
    // A program that fails says why.
    return output.includes(finalText) ? { tools: tools.map(({ name }) => name), results } : failed(output)
  } finally {
    await server.close()
  }
}

async function runClient({ code }: Block, project: Project): Promise<Passed> {
  const end = 'await client.close()'
  const output = await runProgram(code.replace(end, `${ownCalls}\n${end}`), project, {})
  return passedIn(output)
}

/** Calls after those of the page, which use its client. */
const ownCalls = `
const results = []
for (const { name, input } of ${JSON.stringify(calls)}) {
  const { content } = await client.callTool({ name, arguments: input })
  results.push(content.map(({ text }) => text).join('\\n'))
}
console.log('\\npassed ' + JSON.stringify({ tools: tools.map(({ name }) => name), results }))`

function passedIn(output: string): Passed {
  const line = /^passed (.*)$/m.exec(output)?.[1]
  return line === undefined ? failed(output) : (JSON.parse(line) as Passed)
}

/** Serves the directory over HTTP, and connects by the command of the configuration. */
async function runProxy({ code }: Block, project: Project): Promise<Passed> {
  const token = 'a-token-for-this-test'
  const env = environmentOf(project, { WARDSPACE_TOKEN: token })
  const words = ['wardspace', 'mcp', '--root', '.', '--policy', 'supervised', '--http', '0', '--json']
  const server = spawn('npx', words, {
    cwd: project.directory,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  })
  try {
    const [line] = (await once(server.stdout, 'data')) as [Buffer]
    const { url } = JSON.parse(String(line)) as { readonly url: string }
    const [config] = Object.values<{ command: string; args: string[]; env: Record<string, string> }>(
      JSON.parse(code).mcpServers,
    )
    const args = config?.args.map((word) => (word.startsWith('http:') ? url : word))
    const variables = Object.keys(config?.env ?? {}).map((name) => [name, `Bearer ${token}`])
    const program = blockOf({ block: 'mcp-client-2', name: 'MCP client 2' })
      .code.replace(/^const args = .*$/m, `const args = ${JSON.stringify(args)}`)
      .replace("command: 'npx', args", `command: '${config?.command}', args, env: process.env`)
      .replace('await client.close()', `${ownCalls}\nawait client.close()`)
    return passedIn(await runProgram(program, project, Object.fromEntries(variables)))
  } finally {
    await end(server)
  }
}

/** Runs the command for each call. A person answers the call that waits. */
async function runCommand({ code }: Block, project: Project): Promise<Passed> {
  const [inspect = [], approve = []] = commandsOf(code)
  const run = (words: readonly string[]) => runWords(words, project)
  const server = inspect.slice(0, inspect.indexOf('--method'))
  const listed = await run([...server, '--method', 'tools/list'])
  if (!listed.startsWith('{')) return failed(listed)
  const results: string[] = []
  for (const { name, input } of calls) {
    const words = [...server, '--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(input)]
    const output = await run(words)
    if (!output.startsWith('{')) return failed(output)
    const { content, _meta } = JSON.parse(output) as {
      content: { text: string }[]
      _meta?: { 'wardspace/failure': { approvalId?: string } }
    }
    const approvalId = _meta?.['wardspace/failure'].approvalId
    results.push(
      approvalId === undefined
        ? content.map(({ text }) => text).join('\n')
        : toModelText(name, JSON.parse(await run(approve.map((word) => (word === 'ID' ? approvalId : word))))),
    )
  }
  const { tools } = JSON.parse(listed) as { readonly tools: readonly { readonly name: string }[] }
  return { tools: tools.map(({ name }) => name), results }
}

function failed(output: string): Passed {
  return { tools: [output.slice(-2000)], results: [] }
}

/** Runs a program of the page in the directory, and returns its output with its errors. */
export async function runProgram(
  code: string,
  project: Project,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const { code: compiled } = await transform(code, { loader: 'ts', format: 'esm', target: 'es2022' })
  writeFileSync(join(project.directory, 'program.mjs'), compiled)
  return new Promise((resolve) => {
    const options = { cwd: project.directory, env: environmentOf(project, env), timeout: 60_000 }
    execFile(project.node, ['program.mjs'], options, (_, stdout, stderr) => resolve(`${stdout}${stderr}`))
  })
}

function runWords([file = '', ...words]: readonly string[], project: Project): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: project.directory, env: environmentOf(project, {}), timeout: 60_000 }
    execFile(file, words, options, (_, stdout, stderr) => resolve(stdout === '' ? stderr : stdout))
  })
}

function environmentOf({ node }: Project, more: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { VITEST: _, NODE_ENV: __, ...own } = process.env
  return { ...own, NO_COLOR: '1', npm_config_offline: 'true', PATH: `${dirname(node)}${delimiter}${own.PATH}`, ...more }
}

async function end(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  // `npx` starts the server as a process of its own.
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await exit
}

/** Returns the matrix as lines of text. */
export function formatMatrix<C extends string>(
  cells: ReadonlyMap<string, Readonly<Record<C, string>>>,
  columns: readonly C[],
): string {
  const names = [...cells.keys()]
  const width = Math.max(...names.map((name) => name.length))
  const line = (name: string, words: readonly string[]) =>
    `${name.padEnd(width)}  ${words.map((word) => word.slice(0, 3).padEnd(7)).join('  ')}`.trimEnd()
  const head = `${''.padEnd(width)}  ${columns.map((column) => column.padEnd(7)).join('  ')}`.trimEnd()
  return [
    head,
    ...[...cells].map(([name, row]) =>
      line(
        name,
        columns.map((column) => row[column]),
      ),
    ),
  ].join('\n')
}
