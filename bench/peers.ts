import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { performance } from 'node:perf_hooks'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { GeneratedBlock, markdownTable } from '../test/docs/generated-block.ts'
import { installInto, pack } from './installed.ts'
import { median } from './measure.ts'

/**
 * `npm run bench:peers`: installs this package and others with npm, each in a directory of its own, and prints what they bring
 * and what they cost at the start. Times are those over a Node that does nothing, in pairs of processes. `--write` updates the
 * table in `docs/benchmarks.md`.
 */
interface Peer {
  readonly specifier: string
  readonly import?: string
  /** A page that does the least that the package is for. */
  readonly page?: string
  /** The program of a server or a command line, below `node_modules`. */
  readonly program?: readonly string[]
}

const PAIRS = 15
/** Prints the milliseconds of CPU of its process. */
const USED =
  ';const{user,system}=process.cpuUsage();process.stdout.write(String((user+system)/1000),()=>process.exit())'
const home = mkdtempSync(join(tmpdir(), 'wardspace-peers-'))
const block = new GeneratedBlock('peers', 'npm run bench:peers -- --write')
const cli = 'wardspace/dist/cli/main.js'
const peers: Readonly<Record<string, Peer>> = {
  wardspace: {
    specifier: pack(home),
    import: 'wardspace',
    page: "import { createWorkspace } from 'wardspace'\nimport { memory } from 'wardspace/backends/memory'\nglobalThis.start = () => createWorkspace({ backend: memory({}), policy: 'readOnly' })",
    program: [cli, 'mcp', '--root', home, '--policy', 'readOnly'],
  },
  unstorage: {
    specifier: 'unstorage',
    import: 'unstorage',
    page: "import { createStorage } from 'unstorage'\nglobalThis.start = () => createStorage()",
  },
  '@zenfs/core': {
    specifier: '@zenfs/core',
    import: '@zenfs/core',
    page: "import { configureSingle, fs, InMemory } from '@zenfs/core'\nglobalThis.start = () => [configureSingle({ backend: InMemory }), fs]",
  },
  memfs: {
    specifier: 'memfs',
    import: 'memfs',
    page: "import { Volume } from 'memfs'\nglobalThis.start = () => new Volume()",
  },
  'just-bash': {
    specifier: 'just-bash',
    import: 'just-bash',
    page: "import { Bash } from 'just-bash'\nglobalThis.start = () => new Bash()",
  },
  'server-filesystem': {
    specifier: '@modelcontextprotocol/server-filesystem',
    program: ['@modelcontextprotocol/server-filesystem/dist/index.js', home],
  },
  deepagents: {
    specifier: 'deepagents',
    import: 'deepagents',
    page: "import { createDeepAgent } from 'deepagents'\nglobalThis.start = () => createDeepAgent()",
  },
  '@mastra/core': {
    specifier: '@mastra/core',
    import: '@mastra/core',
    page: "import { Mastra } from '@mastra/core'\nglobalThis.start = () => new Mastra()",
  },
}

const HEAD = ['package', 'packages', 'MB', 'import, ms', 'import, ms of CPU', 'MCP initialize, ms', 'page, KB gzip']
try {
  const rows = [HEAD]
  for (const [name, peer] of Object.entries(peers)) {
    const directory = join(home, name.replace(/\W/g, '-'))
    const { packages, mb } = installInto(directory, peer.specifier)
    const own = packages.find((one) => one.name.startsWith(`${name} `) || one.name.startsWith(`${peer.specifier} `))
    const { wall, cpu } = peer.import === undefined ? {} : importTime(directory, peer.import)
    rows.push([
      own?.name ?? name,
      String(packages.length),
      mb.toFixed(1),
      figure(wall),
      figure(cpu),
      figure(peer.program && (await answerTime(directory, peer.program))),
      figure(peer.page === undefined ? undefined : await pageSize(directory, peer.page)),
    ])
    console.log(rows.at(-1)?.join('  '))
  }
  const table = markdownTable(rows, [false, true, true, true, true, true, true])
  console.log(`\n${table}`)
  console.log(`\nwardspace tools: ${figure(commandTime(join(home, 'wardspace')))} ms over Node`)
  const file = join(import.meta.dirname, '../docs/benchmarks.md')
  if (process.argv.includes('--write')) writeFileSync(file, block.replace(readFileSync(file, 'utf8'), table))
} finally {
  rmSync(home, { recursive: true, force: true })
}

function figure(value: number | undefined): string {
  return value === undefined ? '–' : value.toFixed(value < 10 ? 1 : 0)
}

/** Returns the median of what an import takes over a process without one, in milliseconds. */
function importTime(directory: string, name: string): { wall: number; cpu: number } {
  const run = (text: string) => {
    const started = performance.now()
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', `${text}${USED}`], {
      cwd: directory,
      encoding: 'utf8',
    })
    return { wall: performance.now() - started, cpu: Number(stdout) }
  }
  const pairs = Array.from({ length: PAIRS }, () => [run(''), run(`await import(${JSON.stringify(name)})`)] as const)
  const over = (key: 'wall' | 'cpu') => median(pairs.map(([bare, full]) => full[key] - bare[key]))
  return { wall: over('wall'), cpu: over('cpu') }
}

/** Returns the median milliseconds of a command over a Node that does nothing. */
function commandTime(directory: string): number {
  const run = (words: readonly string[]) => {
    const started = performance.now()
    spawnSync(process.execPath, words, { cwd: join(directory, 'node_modules') })
    return performance.now() - started
  }
  return median(Array.from({ length: PAIRS }, () => -run(['-e', '0']) + run([cli, 'tools'])))
}

/** Returns the median milliseconds until an MCP server over stdio answers `initialize`, from the start of its process. */
async function answerTime(directory: string, [program = '', ...words]: readonly string[]): Promise<number> {
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } }
  const request = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`
  const times: number[] = []
  for (let i = 0; i < PAIRS; i++) {
    const started = performance.now()
    const server = spawn(process.execPath, [join(directory, 'node_modules', program), ...words], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    server.stdin.write(request)
    await answer(server)
    times.push(performance.now() - started)
    server.kill('SIGKILL')
  }
  return median(times)
}

async function answer(server: ChildProcess): Promise<void> {
  let output = ''
  for await (const part of server.stdout ?? []) {
    output += String(part)
    if (output.includes('"result"')) return
  }
  throw new Error(`The server ended without an answer: ${output.slice(0, 200)}`)
}

/** Returns the size of what the imports of a page load, as esbuild builds it without configuration, or undefined when that fails. */
async function pageSize(directory: string, contents: string): Promise<number | undefined> {
  const built = await build({
    stdin: { contents, resolveDir: directory },
    ...{ bundle: true, write: false, minify: true, splitting: true, format: 'esm', platform: 'browser' },
    ...{ absWorkingDir: directory, outdir: 'never-written', metafile: true, logLevel: 'silent' },
  }).catch(() => undefined)
  if (built === undefined) return undefined
  const loaded = new Set<string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const { path, kind } of built.metafile.outputs[file]?.imports ?? [])
      if (kind === 'import-statement') load(path)
  }
  load('never-written/stdin.js')
  const files = built.outputFiles.filter(({ path }) => loaded.has(relative(directory, path)))
  return files.reduce((sum, { contents }) => sum + gzipSync(contents, { level: 9 }).length / 1000, 0)
}
