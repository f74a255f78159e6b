import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { writeFiles } from '../write-files.ts'
import { type Case, tree } from './mcp-filesystem-cases.ts'
import type { Session } from './mcp-filesystem-compare.ts'

export const VERSION = '2026.8.31'

/** Answer of the reference server, with `/workspace` for its allowed directory. */
export interface Exchange {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  readonly result: { readonly isError: boolean; readonly content: unknown; readonly structuredContent?: unknown }
}

export interface Recorded {
  readonly version: string
  readonly tools: readonly Readonly<Record<string, unknown>>[]
  readonly cases: readonly {
    readonly name: string
    readonly exchanges: readonly Exchange[]
    readonly files: Record<string, string>
  }[]
}

/** Installs the reference server, makes all calls, and returns its answers and the files after each. */
export async function askReference(cases: readonly Case[]): Promise<Recorded> {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-reference-')))
  const root = join(directory, 'root')
  mkdirSync(root)
  const transport = new StdioClientTransport({ command: process.execPath, args: [install(), root], stderr: 'ignore' })
  const client = new Client({ name: 'comparison', version: '1' })
  try {
    await client.connect(transport)
    const { tools } = await client.listTools()
    const recorded: Recorded['cases'][number][] = []
    for (const { name, calls } of cases) {
      fill(root)
      const exchanges: Exchange[] = []
      for (const { tool, input } of calls) exchanges.push({ tool, input, result: await ask(client, root, tool, input) })
      recorded.push({ name, exchanges, files: changedFiles(filesBelow(root)) })
    }
    return { version: VERSION, tools, cases: recorded }
  } finally {
    await client.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

async function ask(client: Client, root: string, name: string, input: object): Promise<Exchange['result']> {
  try {
    const physicalInput = JSON.parse(JSON.stringify(input).replaceAll('/workspace', root))
    const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: physicalInput })
    return JSON.parse(inOurWords(JSON.stringify({ isError, content, structuredContent }), root))
  } catch (error) {
    return { isError: true, content: [{ type: 'text', text: inOurWords((error as Error).message, root) }] }
  }
}

function inOurWords(text: string, root: string): string {
  return text.replaceAll(root, '/workspace').replaceAll(dirname(root), '')
}

/** Runs the built command line instead of the reference server, over a directory with a fresh tree. */
export async function overCommandLine(): Promise<Session> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'wardspace-in-its-place-')))
  fill(root)
  const command = join(import.meta.dirname, '../../dist/cli/main.js')
  const args = [command, 'mcp', '--dialect', 'mcp-filesystem', '--root', root, '--policy', 'autonomous']
  const client = new Client({ name: 'comparison', version: '1' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }))
  // The client checks structured results against the schemas that it has listed.
  await client.listTools()
  return {
    async call(name, input) {
      const { isError = false, content, structuredContent } = await client.callTool({ name, arguments: { ...input } })
      return { isError: isError === true, content, ...(structuredContent === undefined ? {} : { structuredContent }) }
    },
    files: async () => filesBelow(root),
    async close() {
      await client.close()
      rmSync(root, { recursive: true, force: true })
    },
  }
}

/** Installs the server in a folder outside of the project's dependencies, and returns its program. */
function install(): string {
  const place = join(import.meta.dirname, '../../node_modules/.cache/wardspace/server-filesystem')
  const folder = join(place, 'node_modules/@modelcontextprotocol/server-filesystem')
  const manifest = join(folder, 'package.json')
  if (!existsSync(manifest) || JSON.parse(readFileSync(manifest, 'utf8')).version !== VERSION) {
    mkdirSync(place, { recursive: true })
    writeFileSync(join(place, 'package.json'), '{ "private": true }\n')
    const packageSpec = `@modelcontextprotocol/server-filesystem@${VERSION}`
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--silent', packageSpec], {
      cwd: place,
      stdio: 'inherit',
    })
  }
  return join(folder, 'dist/index.js')
}

function fill(root: string): void {
  for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true, force: true })
  writeFiles(root, tree)
}

function filesBelow(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => relative(root, join(entry.parentPath, entry.name)))
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

/** Returns only the files that differ from the start, `''` for deleted ones, so that a fixture stays small. */
export function changedFiles(files: Readonly<Record<string, string>>): Record<string, string> {
  const paths = [...new Set([...Object.keys(tree), ...Object.keys(files)])].sort()
  const changed = paths.filter((path) => tree[path] !== files[path])
  return Object.fromEntries(changed.map((path) => [path, files[path] ?? '']))
}
