import type { FsStat } from 'just-bash'
import { memory } from '../../backends/memory/index.ts'
import type { ToolError } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import { createCommandFiles } from '../shared/command-files.ts'
import { createLineAnalyzer } from '../shared/line-judge.ts'
import type { CommandFiles, Shell, ShellCommand, ShellOutcome } from '../types.ts'
import type { CustomCommand } from './custom-command.ts'
import { gitCommand } from './git-command.ts'
import { loadInterpreter } from './just-bash.ts'
import { bashFs } from './just-bash-fs.ts'
import { nodeCommand, type ScriptRunner } from './node-command.ts'
import { runScript } from './node-emulation/engine.ts'
import type { Script, ScriptFiles, ScriptResult } from './node-emulation/script.ts'
import { npmCommand } from './npm-command.ts'
import { patchCommand } from './patch-command.ts'
import { type LineRequest, type LineResult, runLine } from './run-line.ts'
import { sameThreadLimits } from './same-thread-limits.ts'
import { searchCommands } from './search-command.ts'
import { startNodeThread, startWebThread, threadKind } from './start-thread.ts'
import { createThreads, type JobHow, type Threads } from './thread-pool.ts'
import { fsMethods, sentStat } from './thread-protocol.ts'
import { HOME, type Places, resolveVirtualPath } from './virtual-paths.ts'

/** What commands find beside the files, and in which thread they run. */
export interface BashOptions {
  /** Bytes of chance, for `/dev/urandom`. Default: the platform's. */
  readonly random?: (bytes: number) => Uint8Array
  /** Variables of every command's environment. */
  readonly env?: Readonly<Record<string, string>>
  /**
   * Where there are Web Workers, as in browsers, commands run in one that can be ended. A build that does not find its
   * file by itself makes it here, from `wardspace/shells/bash-thread`; `false` runs commands in the thread of the caller,
   * which a command can then keep busy until its time limit.
   */
  readonly worker?: (() => Worker) | false
}

/**
 * A bash in this process, over the workspace's own files: in the browser, at the edge and in Node. It has no processes
 * and no network; the workspace stands at `/workspace`. Needs the package just-bash, which is loaded when a command is
 * first run; `node` and `npm test` need quickjs-emscripten as well. In a browser, commands run in a Web Worker.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', shell: bash() })
 * const result = await workspace.call('run_command', { command: 'cat a.txt | tr a b > b.txt; ls' })
 * if (result.ok) console.log(result.stdout, result.filesChanged)
 * await workspace.close()
 */
export function bash(options: BashOptions = {}): Shell {
  const stops = new Set<AbortController>()
  const kind = threadKind()
  const { worker } = options
  const inWorker = kind === 'web' && worker !== false
  const threads: Threads | undefined =
    kind === undefined || (kind === 'web' && !inWorker)
      ? undefined
      : createThreads((events) => {
          return inWorker ? startWebThread(worker || undefined, events) : startNodeThread(events)
        })
  return {
    name: 'bash',
    capabilities: Object.freeze({
      processes: false,
      network: false,
      background: true,
      stderr: true,
      guarded: true,
      confined: true,
      undo: true,
    }),
    judge: createLineAnalyzer({ root: HOME, shell: 'bash' }),
    async run(command) {
      const stop = new AbortController()
      stops.add(stop)
      try {
        return await run(command, options, { stop, threads, inWorker })
      } finally {
        stops.delete(stop)
      }
    },
    async close() {
      for (const stop of stops) stop.abort()
      threads?.close()
    },
  }
}

interface RunWhere {
  /** Ends the line. */
  readonly stop: AbortController
  readonly threads: Threads | undefined
  /** Whether the whole line runs in a thread; otherwise only its scripts do. */
  readonly inWorker: boolean
}

async function run(command: ShellCommand, options: BashOptions, where: RunWhere): Promise<ShellOutcome> {
  const { stop, threads, inWorker } = where
  const signal = AbortSignal.any(command.signal === undefined ? [stop.signal] : [stop.signal, command.signal])
  let scratch: CommandFiles | undefined
  const places: Places = {
    workspace: command.files,
    // Most lines have no temporary files.
    get scratch() {
      scratch ??= scratchFiles(signal)
      return scratch
    },
  }
  const { line, timeoutMs, stdin } = command
  const request: LineRequest = {
    line,
    cwd: inTree(command.cwd),
    env: { HOME, TMPDIR: '/tmp', ...options.env, ...command.env },
    timeoutMs,
    ...(stdin === undefined ? {} : { stdin }),
  }
  const random = options.random ?? randomBytes
  const own = [...searchCommands(places), patchCommand(places), gitCommand(() => command.git?.())]
  let result: LineResult
  if (inWorker && threads !== undefined) {
    const fs = bashFs({ places, random, ends: (message) => Object.assign(new Error(message), { ends: true }) })
    const commands = own.map(({ name }) => name)
    const how = { timeoutMs, signal, serve: serving(fs, own) }
    result = (await threads.run({ type: 'line', request, commands }, how)) as LineResult
  } else {
    const interpreter = await loadInterpreter()
    const fs = bashFs({ places, random, ends: interpreter.ends })
    const commands = [
      ...own.map(({ command: one }) => one),
      nodeCommand(scriptRunner(threads, timeoutMs, signal), (why: ToolError) => stop.abort(why)),
      npmCommand(),
    ]
    result = await runLine(interpreter, request, { fs, commands, signal })
  }
  const { stdout, stderr, exitCode, pwd } = result
  return { stdout, stderr, exitCode, cwd: await endedIn(pwd, places, command.cwd) }
}

/** Scripts run in a thread where there are any: one that never ends must not keep the caller from ending it. */
function scriptRunner(threads: Threads | undefined, timeoutMs: number, signal: AbortSignal): ScriptRunner {
  const end = performance.now() + timeoutMs
  return async (script: Script, files: ScriptFiles): Promise<ScriptResult> => {
    const left = Math.max(1, Math.ceil(end - performance.now()))
    if (threads === undefined) return runScript(script, files, sameThreadLimits(left, signal))
    const how = { timeoutMs: left, signal, serve: serving(files, []) }
    return threads.run({ type: 'script', script, timeoutMs: left }, how) as Promise<ScriptResult>
  }
}

/** Answers what a job in a thread asks for: an access to its files, or a command of ours. */
function serving(files: object, commands: readonly CustomCommand[]): JobHow['serve'] {
  return async (asked) => {
    if ('fs' in asked) return callFs(files, asked.fs, asked.args)
    return commands.find(({ name }) => name === asked.command)?.attempt(asked.args, asked)
  }
}

const known: ReadonlySet<string> = new Set(fsMethods)

async function callFs(fs: object, method: string, args: readonly unknown[]): Promise<unknown> {
  if (!known.has(method)) throw new TypeError(`There is no ${method}`)
  const result = await (fs as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>)[method]?.(...args)
  return method === 'stat' || method === 'lstat' ? sentStat(result as FsStat) : result
}

/** The directory that the interpreter says it ended in, where it shows. */
async function endedIn(pwd: string | undefined, places: Places, start: Path): Promise<Path> {
  const place = resolveVirtualPath(pwd ?? '', places)
  if (place.in !== 'files' || place.files !== places.workspace) return start
  const stat = await places.workspace.stat(place.path).catch(() => undefined)
  return stat?.type === 'directory' ? stat.path : start
}

function inTree(path: Path): string {
  return path === '' ? HOME : `${HOME}/${path}`
}

/** Temporary files: the command's own, bounded, and gone with it. */
function scratchFiles(signal: AbortSignal): CommandFiles {
  return createCommandFiles({
    backend: memory({ tmp: { directory: true }, fd: { directory: true } }),
    judge: () => {},
    visibility: () => ({ see: () => true, enter: () => true, revision: 'scratch' }),
    signal,
    onRead: () => {},
    limits: { treeEntries: 10_000, fileBytes: 16 * 1024 * 1024 },
  })
}

/** As many as the platform gives at once. */
const CHANCE_BYTES = 65_536

function randomBytes(bytes: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(Math.min(bytes, CHANCE_BYTES)))
}
