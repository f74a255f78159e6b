import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createInterface } from 'node:readline'
import { installInto } from './installed.ts'
import { pathAt } from './large-tree.ts'
import { heading, median, medians, report } from './measure.ts'

const READS = 1000
// The server answers 10,000 calls a minute.
const ROUNDS = 7
const FILES = 100
const LARGE_FILES = 60_000
const own = join(import.meta.dirname, '../dist/cli/main.js')

/** MCP over stdio against the reference filesystem server, and the start of the server on a large tree. */
export async function benchMcp(): Promise<void> {
  heading(`MCP over stdio: the start of a server, and ${READS} calls of one that read 4 KiB`)
  const home = mkdtempSync(join(tmpdir(), 'wardspace-mcp-'))
  try {
    const root = join(home, 'root')
    fill(root, FILES, 'a line of a file of a project..\n'.repeat(128))
    installInto(join(home, 'reference'), '@modelcontextprotocol/server-filesystem')
    const reference = join(home, 'reference/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js')
    await benchServers(
      () => start([own, 'mcp', '--root', root, '--policy', 'readOnly']),
      () => start([reference, root]),
      root,
    )
    const large = join(home, 'large')
    fill(large, LARGE_FILES, 'export const value = 0\n')
    await benchLargeTree(large)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

async function benchServers(ours: () => Server, theirs: () => Server, root: string): Promise<void> {
  const started = async (create: () => Server) => {
    const server = create()
    await server.initialize()
    server.end()
  }
  const starts = await medians(ROUNDS, { ours: () => started(ours), theirs: () => started(theirs) })
  report('initialize, from the start of the process', starts.ours, starts.theirs, 1)

  const calls = {
    ours: (path: string) => ({ name: 'read_file', arguments: { path } }),
    theirs: (path: string) => ({ name: 'read_text_file', arguments: { path: join(root, path) } }),
  }
  const compare = async (
    label: string,
    budget: number,
    read: (call: (i: number) => Promise<unknown>) => Promise<unknown>,
  ) => {
    const servers = { ours: ours(), theirs: theirs() }
    const readAll = (key: keyof typeof servers) => () =>
      read((i) => servers[key].request('tools/call', calls[key](pathAt(i % FILES))))
    for (const server of Object.values(servers)) await server.initialize()
    const times = await medians(ROUNDS, { ours: readAll('ours'), theirs: readAll('theirs') })
    report(label, times.ours, times.theirs, budget, { goal: 0.8 })
    for (const server of Object.values(servers)) server.end()
  }
  await compare(`${READS} readings, one after another`, 1.5, async (call) => {
    for (let i = 0; i < READS; i++) await call(i)
  })
  await compare(`${READS} readings at once`, 2, (call) => Promise.all(Array.from({ length: READS }, (_, i) => call(i))))
}

/** The first answer of a server and its memory do not depend on the number of files. */
async function benchLargeTree(root: string): Promise<void> {
  const times: number[] = []
  const sizes: number[] = []
  for (let round = 0; round < 3; round++) {
    const begun = performance.now()
    const server = start([own, 'mcp', '--root', root, '--policy', 'readOnly'])
    await server.initialize()
    await server.request('tools/call', { name: 'list_directory', arguments: { path: '.' } })
    times.push(performance.now() - begun)
    sizes.push(server.peakMb())
    server.end()
  }
  report(`first list_directory of ${LARGE_FILES} files, from the start`, median(times), 1000, 1)
  report('the memory of that server at its peak', median(sizes), 300, 1, { unit: 'MB' })
}

function fill(root: string, files: number, text: string): void {
  for (let i = 0; i < files; i++) {
    if (i % 32 === 0) mkdirSync(join(root, pathAt(i), '..'), { recursive: true })
    writeFileSync(join(root, pathAt(i)), text)
  }
}

/** A client of MCP that does no more than the server needs, so that it does not hide what the server costs. */
interface Server {
  initialize(): Promise<void>
  request(method: string, params: object): Promise<unknown>
  /** The most memory that the process held, in MB of 1,000,000 bytes. Read on Linux only. */
  peakMb(): number
  end(): void
}

interface Answer {
  readonly id?: number
  readonly error?: { readonly message: string }
  readonly result?: { readonly isError?: boolean }
}

function start(words: readonly string[]): Server {
  const child: ChildProcess = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'ignore'] })
  const waiting = new Map<number, (answer: Answer) => void>()
  if (child.stdout === null) throw new Error('The server has no output')
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = JSON.parse(line) as Answer
    if (answer.id === undefined) return
    waiting.get(answer.id)?.(answer)
    waiting.delete(answer.id)
  })
  let last = 0
  const send = (message: object) => child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const request = async (method: string, params: object) => {
    const id = ++last
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve))
    send({ id, method, params })
    const { error, result } = await answered
    if (error !== undefined || result?.isError) throw new Error(error?.message ?? JSON.stringify(result))
    return result
  }
  return {
    request,
    async initialize() {
      const clientInfo = { name: 'bench', version: '1' }
      await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
      send({ method: 'notifications/initialized' })
    },
    peakMb() {
      const [, kb] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
      return (Number(kb) * 1024) / 1e6
    },
    end: () => void child.kill('SIGKILL'),
  }
}
