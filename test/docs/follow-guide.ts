import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pnpmPath } from '../runtimes/node-versions.ts'
import { packedTarball } from '../runtimes/packed.ts'
import { type Block, blocksOf, readPages } from './blocks.ts'
import { commandsOf, ownWords } from './commands.ts'

export const managers = ['npm', 'pnpm'] as const
export type Manager = (typeof managers)[number]

/** What follows the steps of guides: the packed package, and directories outside of the clone. */
export interface Follower {
  /**
   * Follows the steps of a page, or of one of its sections, in an empty directory: installs what it installs, saves its
   * files, checks and runs its examples, and runs its commands. Returns a line for each step that fails.
   */
  follow(section: Section, manager: Manager, node?: string): Promise<readonly string[]>
  remove(): void
}

/** A page, or the parts of it that a reader follows together. */
export interface Section {
  readonly name: string
  readonly blocks: readonly Step[]
}

interface Step extends Block {
  /** The name under which the text before the block says to save it, or a comment in its first line. */
  readonly file?: string
}

/**
 * Returns the steps of a page. With `choices`, a heading that matches begins a section of its own, which a reader follows
 * instead of the others, after the steps before the first one.
 */
export function sectionsOf(path: string, choices?: RegExp): readonly Section[] {
  const lines = (readPages().get(path) ?? '').split('\n')
  const starts = lines.flatMap((line, index) => (choices?.test(line) ? [index] : []))
  const steps = (from: number, to?: number) => stepsOf(path, `${'\n'.repeat(from)}${lines.slice(from, to).join('\n')}`)
  if (starts.length === 0) return [{ name: path, blocks: steps(0) }]
  return starts.map((start, index) => ({
    name: `${path} ${lines[start]?.replace(/^#+ /, '')}`,
    blocks: [...steps(0, starts[0]), ...steps(start, starts[index + 1])],
  }))
}

function stepsOf(path: string, text: string): readonly Step[] {
  const lines = text.split('\n')
  return blocksOf(path, text).map((block) => {
    const firstLine = Number(block.name.split(':')[1])
    // The fence is the line before the first line of the code.
    const before =
      lines
        .slice(0, firstLine - 2)
        .join('\n')
        .split('```')
        .at(-1) ?? ''
    const [, saved] = /\b[Ss]ave [^.]*? as `([\w./-]+)`[^`]*$/.exec(before) ?? []
    const [, named] = /^(?:\/\/|#) ([\w/-]+(?:\.[\w-]+)+)/.exec(block.code) ?? []
    const file = saved ?? named
    return file === undefined ? block : { ...block, file }
  })
}

/** Packs the package. */
export function createFollower(): Follower {
  const home = mkdtempSync(join(tmpdir(), 'wardspace-guides-'))
  const tarball = packedTarball()
  return {
    async follow({ name, blocks }, manager, node = process.execPath) {
      const directory = mkdtempSync(join(home, `${name.replace(/\W+/g, '-')}-${manager}-`))
      for (const { code } of blocks) makePlaceholders(code, directory)
      const ownCheck = blocks.find(isCheck)?.code.trim()
      const visit = new Visit({ directory, manager, tarball, ...(ownCheck && { check: ownCheck }), node })
      const failures: string[] = []
      for (const block of blocks.filter((one) => !isCheck(one))) {
        for (const failure of await visit.step(block)) failures.push(`${block.name}: ${failure}`)
      }
      rmSync(directory, { recursive: true, force: true })
      return failures
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  }
}

/** Names of directories that a reader replaces by an own one. */
const placeholders = /(?<![\w/.])\/(?:path\/to|home|var\/log)\//g

/** Creates the directories that a reader has instead of the placeholders. */
function makePlaceholders(code: string, directory: string): void {
  for (const [path] of code.matchAll(/(?<![\w/.])\/(?:path\/to|home|var\/log)\/[\w./-]*/g))
    mkdirSync(join(directory, path.endsWith('.jsonl') ? dirname(path) : path), { recursive: true })
}

/** The commands of Start that install what examples need, check the types of one, and run it. */
const [install = '', check = '', run = ''] = (
  (readPages().get('docs/guide/start.md') ?? '').split('## Run an example')[1]?.split('```')[1] ?? ''
)
  .split('\n')
  .slice(1)

/** A block that is the check of a page for its own examples. */
const isCheck = ({ code }: Step): boolean => code.startsWith('npx tsc ')

interface Setting {
  readonly directory: string
  readonly manager: Manager
  readonly tarball: string
  /** The check of the page for its own examples. */
  readonly check?: string
  /** The executable of Node. */
  readonly node: string
}

/** Time after which a command is ended. Installations and builds for production take minutes on a busy machine. */
const COMMAND_MS = 600_000

/** One reader in one directory. */
class Visit {
  #examples = 0
  readonly #env: NodeJS.ProcessEnv

  constructor(private readonly setting: Setting) {
    const own = Object.entries(process.env).filter(([name]) => !/^(npm_|VITEST|NODE_ENV$|CI$)/.test(name))
    const paths = [
      ...(setting.manager === 'pnpm' ? [dirname(pnpmPath())] : []),
      dirname(setting.node),
      process.env.PATH,
    ]
    this.#env = {
      ...Object.fromEntries(own),
      NO_COLOR: '1',
      PATH: paths.join(delimiter),
    }
  }

  /** Follows a block. Returns what fails. */
  async step(block: Step): Promise<readonly string[]> {
    const code = block.code.replace(placeholders, `${this.setting.directory}$&`)
    if (block.file !== undefined) this.#save(block.file, code)
    if (block.language === 'sh' && block.framework === undefined) return this.#runCommands(code)
    if (block.framework !== undefined) return this.#checkFramework({ ...block, code })
    if (block.file !== undefined) return []
    if (['ts', 'js'].includes(block.language)) return this.#runExample({ ...block, code })
    return block.language === 'json' ? this.#startServers(code) : []
  }

  #save(file: string, text: string): void {
    const path = join(this.setting.directory, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  async #runCommands(code: string): Promise<string[]> {
    // A clone of the repository has commands of its own.
    if (/^npm (ci|run)\b/.test(code)) return []
    const failures: string[] = []
    for (const line of linesOf(code, this.setting.manager)) {
      const failure = await this.#runLine(line)
      if (failure !== undefined) failures.push(`${line}: ${failure}`)
    }
    return failures
  }

  async #runLine(line: string): Promise<string | undefined> {
    const [words = []] = commandsOf(line)
    if (/^(npm install|pnpm add) /.test(line)) return this.#install(words)
    if (ownWords(words)?.[0] === 'mcp') return this.#serve(line)
    if (/^npx (vite|next start|wrangler dev)$/.test(line)) return this.#open(line)
    const { exitCode, output } = await this.#run(line)
    if (exitCode !== 0) return `exit code ${exitCode}\n${output}`
    const missing = words[1] === 'tsx' ? this.#missingIn(output, words[2]) : []
    return missing.length === 0 ? undefined : `does not print ${missing.join(', ')}\n${output}`
  }

  /** What an example says that it prints, and does not. */
  #missingIn(output: string, file = ''): string[] {
    const lines = output.split('\n')
    const code = readFileSync(join(this.setting.directory, file), 'utf8')
    const texts = [...code.matchAll(/\/\/ Prints: (.*)$/gm)].map(([, text = '']) => text)
    return texts.filter((text) => !lines.includes(text))
  }

  /** Runs a command to its end, with a yes to each question. */
  async #run(line: string): Promise<{ exitCode: number | null; output: string }> {
    const child = this.#spawn(line)
    child.stdin.end('y\n')
    const output = outputOf(child)
    const timer = setTimeout(() => end(child), COMMAND_MS)
    const [exitCode] = (await once(child, 'close')) as [number | null]
    clearTimeout(timer)
    return { exitCode, output: output().slice(-3000) }
  }

  /** Starts an MCP server, lists its tools or asks for its token, and ends it. */
  async #serve(line: string): Promise<string | undefined> {
    const overHttp = / --http \d+/.test(line)
    // Other tests may use the port.
    const child = this.#spawn(line.replace(/ --http \d+/, ' --http 0'))
    const output = outputOf(child)
    try {
      if (overHttp) {
        const [url = ''] = await until(child, output, /http:\/\/\S+\/mcp/)
        const { status } = await fetch(url)
        return status === 401 ? undefined : `HTTP status ${status}`
      }
      const clientInfo = { name: 'reader', version: '1.0.0' }
      const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo }
      send(child, { id: 1, method: 'initialize', params })
      await until(child, output, /"serverInfo"/)
      send(child, { method: 'notifications/initialized' })
      send(child, { id: 2, method: 'tools/list' })
      await until(child, output, /"inputSchema"/)
      return undefined
    } catch (error) {
      return String(error)
    } finally {
      await end(child)
    }
  }

  /** Starts a server of pages, and opens its first one. */
  async #open(line: string): Promise<string | undefined> {
    const child = this.#spawn(line)
    try {
      const [url = ''] = await until(child, outputOf(child), /http:\/\/localhost:\d+/)
      const { status } = await fetch(url)
      return status < 500 ? undefined : `HTTP status ${status}`
    } catch (error) {
      return String(error)
    } finally {
      await end(child)
    }
  }

  #spawn(line: string) {
    return spawn('sh', ['-c', line], { cwd: this.setting.directory, env: this.#env, detached: true, stdio: 'pipe' })
  }

  async #install([program = '', action = '', ...words]: readonly string[]): Promise<string | undefined> {
    if (words.every((word) => word.startsWith('-'))) return undefined
    const packed = words.map((word) => (word === 'wardspace' ? this.setting.tarball : word))
    const { exitCode, output } = await this.#run([program, action, ...packed].join(' '))
    return exitCode === 0 ? undefined : `exit code ${exitCode}\n${output}`
  }

  /** Checks the types of an example and runs it, by the commands of Start. */
  async #runExample({ code, notRun }: Step): Promise<string[]> {
    this.#examples += 1
    const file = `example-${this.#examples}.mts`
    this.#save(file, code)
    const lines = [
      ...(this.#examples === 1 ? [install] : []),
      this.setting.check ?? check,
      ...(notRun === undefined ? [run] : []),
    ]
    return this.#runCommands(lines.join('\n').replaceAll('first.mts', file))
  }

  /** Checks the types of the lines of a framework and loads its modules. `test/frameworks/` runs the lines. */
  async #checkFramework(block: Step): Promise<string[]> {
    if (block.language !== 'ts') return []
    const modules = [...block.code.matchAll(/ from ('.+')/g)].map(([, name]) => `import ${name}\n`)
    return [
      ...(await this.#runExample({ ...block, notRun: 'it asks a model' })),
      ...(await this.#runExample({ ...block, code: modules.join('') })),
    ]
  }

  /** Starts the servers in the configuration of a client. */
  async #startServers(code: string): Promise<string[]> {
    const { mcpServers, servers = mcpServers } = JSON.parse(code) as Record<string, Record<string, Server>>
    const commands = Object.values(servers ?? {}).filter(({ args }) => args?.[1] === 'wardspace')
    const failures: string[] = []
    for (const { command, args = [] } of commands) {
      const failure = await this.#serve([command, ...args].join(' '))
      if (failure !== undefined) failures.push(failure)
    }
    return failures
  }
}

interface Server {
  readonly command?: string
  readonly args?: readonly string[]
}

/** The lines of a block without comments. A backslash continues a line. */
function linesOf(code: string, manager: Manager): string[] {
  return code
    .replace(/\\\n\s*/g, ' ')
    .split('\n')
    .map((line) => (manager === 'pnpm' ? lineForPnpm(line) : line).replace(/(^|\s+)#.*$/, ''))
    .filter((line) => line !== '')
}

/** The command of pnpm in the comment of a line. Without one, pnpm installs the same names, as the pages say. */
function lineForPnpm(line: string): string {
  return (
    /^npm install .*# or: (pnpm .*)$/.exec(line)?.[1] ??
    line.replace(/^npm install /, 'pnpm add ').replace('--save-dev', '-D')
  )
}

/** Collects what a process prints. */
function outputOf({ stdout, stderr }: ChildProcessWithoutNullStreams): () => string {
  let output = ''
  for (const stream of [stdout, stderr]) stream.on('data', (bytes: Buffer) => (output += bytes))
  return () => output
}

/** Waits until the output of a process matches. */
async function until(child: ChildProcess, output: () => string, pattern: RegExp): Promise<RegExpExecArray> {
  for (const deadline = Date.now() + 60_000; ; await pause(50)) {
    const match = pattern.exec(output())
    if (match !== null) return match
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`exit code ${child.exitCode}\n${output()}`)
    if (Date.now() > deadline) throw new Error(`no ${pattern.source} in\n${output()}`)
  }
}

const send = ({ stdin }: ChildProcessWithoutNullStreams, message: object): void =>
  void stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)

/** Ends a process and what it started. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exit = once(child, 'exit')
  process.kill(-child.pid, 'SIGTERM')
  await exit
}
