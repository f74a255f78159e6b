import type { FsStat, IFileSystem } from 'just-bash'
import { memory } from '../../backends/memory/index.ts'
import { type LogicalPath, type Path, parsePath } from '../../paths/logical-path.ts'
import { anySignal } from '../../util/abort.ts'
import { createCommandFiles } from '../shared/command-files.ts'
import { createShownOutput } from '../shared/shown-output.ts'
import { createStartedCommands } from '../shared/started-commands.ts'
import type { CommandFiles, ShellCommand, ShellOutcome } from '../types.ts'
import type { CommandStart, StartJudge } from './command-hooks.ts'
import type { CustomCommand } from './custom-command.ts'
import { withToolErrors } from './fs-errors.ts'
import { gitCommand } from './git-command.ts'
import { loadInterpreter } from './just-bash.ts'
import { bashFs } from './just-bash-fs.ts'
import { lineOutput } from './live-output.ts'
import type { ScriptRunner } from './node-command.ts'
import type { ScriptResult } from './node-emulation/script.ts'
import { sentStat } from './observed-stat.ts'
import type { BashOptions } from './options.ts'
import { type ContentJudge, ownCommands } from './own-commands.ts'
import { patchCommand } from './patch-command.ts'
import { createPersonInput, enteredText } from './person-input.ts'
import { type LineRequest, type LineResult, runLine } from './run-line.ts'
import { sameThreadLimits } from './same-thread-limits.ts'
import { type SearchBatch, searchFiles } from './search-files.ts'
import { startNodeProcess } from './start-process.ts'
import { hasThreadFile, startNodeThread, type Thread, type ThreadEvents, threadKind } from './start-thread.ts'
import { startWebThread } from './start-web-thread.ts'
import { createThreads, type JobOptions, type Threads } from './thread-pool.ts'
import { fsMethods } from './thread-protocol.ts'
import { DEFAULT_ROOT, resolveVirtualPath, type VirtualRoots, workspacePath } from './virtual-paths.ts'

/** Runs the commands of one shell. */
export interface CommandRunner {
  run(command: ShellCommand): Promise<ShellOutcome>
  /** Aborts all running commands and ends the threads. */
  close(): void
}

export function createCommandRunner(options: BashOptions): CommandRunner {
  const stops = new Set<AbortController>()
  const host = lineHost(options.worker)
  const threads = host === undefined ? undefined : createThreads(host.start)
  const isApart = host?.runsLines === true
  return {
    async run(command) {
      const stop = new AbortController()
      stops.add(stop)
      try {
        return await run(command, options, { stop, threads, isApart })
      } finally {
        stops.delete(stop)
      }
    },
    close() {
      for (const stop of stops) stop.abort()
      threads?.close()
    },
  }
}

/** Loads the interpreter for the thread of the caller. */
const loadSameThread = () => import('./same-thread.ts')

interface RunContext {
  /** Aborts the line. */
  readonly stop: AbortController
  readonly threads: Threads | undefined
  /** Whether the whole line runs in a thread or process; otherwise only its scripts do. */
  readonly isApart: boolean
}

/** Where lines or scripts run other than in the thread of the caller. */
interface LineHost {
  /** Whether whole lines run there; otherwise only scripts do. */
  readonly runsLines: boolean
  start(events: ThreadEvents): Thread
}

/** Chooses a Web Worker, a process of Node, or a worker of Node for scripts alone. `undefined` if the platform has none. */
function lineHost(worker: BashOptions['worker']): LineHost | undefined {
  const kind = threadKind()
  if (kind === undefined || (kind === 'web' && worker === false)) return undefined
  if (kind === 'web') return { runsLines: true, start: (events) => startWebThread(worker || undefined, events) }
  if (!hasThreadFile()) return undefined
  return worker === false ? { runsLines: false, start: startNodeThread } : { runsLines: true, start: startNodeProcess }
}

async function run(command: ShellCommand, options: BashOptions, context: RunContext): Promise<ShellOutcome> {
  const { stop, threads, isApart } = context
  const signal = anySignal(stop.signal, command.signal)
  const files = withToolErrors(command.files)
  let scratch: CommandFiles | undefined
  const { root = command.root ?? DEFAULT_ROOT } = options
  const roots: VirtualRoots = {
    root,
    workspace: files,
    // Most lines have no temporary files.
    get scratch() {
      scratch ??= scratchFiles(signal)
      return scratch
    },
  }
  const { line, timeoutMs, stdin, readInput } = command
  const judge = judgeOf(command, root)
  const request: LineRequest = {
    line,
    root,
    cwd: toVirtual(command.cwd, root),
    env: { HOME: root, TMPDIR: '/tmp', ...options.env, ...command.env },
    timeoutMs,
    ...(stdin === undefined ? {} : { stdin }),
    ...(judge === undefined ? {} : { judges: { operators: judge.refusalOfOperators !== undefined } }),
  }
  const random = options.random ?? randomBytes
  const shown = command.onOutput && createShownOutput(command.onOutput)
  const customOf = (fs: IFileSystem): readonly CustomCommand[] => [
    patchCommand(roots),
    gitCommand(() => command.git?.(), root),
    ...ownCommands(options.commands ?? {}, fs, signal, judge?.refusalOfContent),
  ]
  let result: LineResult
  if (isApart && threads !== undefined) {
    const fs = bashFs({ roots, random, ends: (message) => Object.assign(new Error(message), { ends: true }) })
    const custom = customOf(fs)
    const commands = custom.map(({ name }) => name)
    const serve = serving(fs, custom, { files, judge, readInput })
    const jobOptions = { timeoutMs, signal, serve, onOutput: shown?.add }
    const isLive = shown !== undefined
    result = (await threads.run(
      { type: 'line', request, commands, isLive, asks: readInput !== undefined },
      jobOptions,
    )) as LineResult
  } else {
    const [interpreter, { interpreterCommands }] = await Promise.all([loadInterpreter(), loadSameThread()])
    const fs = bashFs({ roots, random, ends: interpreter.ends })
    const live = lineOutput(interpreter, shown?.add)
    const input = readInput && createPersonInput(readInput)
    const commands = [
      ...interpreterCommands({
        root,
        runner: scriptRunner(threads, timeoutMs, signal),
        endLine: (reason) => stop.abort(reason),
        search: searchFiles(files),
        live,
        input,
      }),
      ...customOf(fs).map(({ command: justBashCommand }) => justBashCommand),
    ]
    result = await runLine(interpreter, request, { fs, commands, judge, signal, live, input })
  }
  shown?.end(result)
  const { stdout, stderr, exitCode, pwd } = result
  return { stdout, stderr, exitCode, cwd: await finalDirectory(pwd, roots, command.cwd) }
}

/** Runs scripts in a thread if the platform has any, so that the caller can end a script that never ends. */
function scriptRunner(threads: Threads | undefined, timeoutMs: number, signal: AbortSignal): ScriptRunner {
  const end = performance.now() + timeoutMs
  return async (script, files, streams): Promise<ScriptResult> => {
    const remainingMs = Math.max(1, Math.ceil(end - performance.now()))
    if (threads === undefined) {
      const { runScript } = await loadSameThread()
      return runScript(script, files, sameThreadLimits(remainingMs, signal), streams)
    }
    const { onOutput, input } = streams
    const readInput =
      input && (async (options?: { readonly isHidden?: boolean }) => enteredText(await input.next(options)))
    const jobOptions = { timeoutMs: remainingMs, signal, serve: serving(files, [], { readInput }), onOutput }
    const sends = { isLive: onOutput !== undefined, asks: input !== undefined }
    return threads.run(
      { type: 'script', script, timeoutMs: remainingMs, ...sends },
      jobOptions,
    ) as Promise<ScriptResult>
  }
}

/** Decides about the commands that start, with paths of the tree that commands see. */
function judgeOf({ startedBy, files }: ShellCommand, root: string): (StartJudge & ContentJudge) | undefined {
  if (startedBy === undefined) return undefined
  const startedCommands = createStartedCommands(startedBy, files)
  const started = ({ cwd, ...command }: CommandStart) => ({ ...command, root, cwd: logicalDirectory(cwd, root) })
  return {
    refusal: (command) => startedCommands.refusal(started(command)),
    refusalOfContent: (command) => startedCommands.refusalOfContent(started(command)),
    refusalOfOperators: startedCommands.refusalOfOperators,
  }
}

/** `undefined` for a directory outside of the workspace, and for one whose name is no logical path. */
function logicalDirectory(cwd: string, root: string): LogicalPath | undefined {
  try {
    return parsePath(workspacePath(cwd, root) ?? '')
  } catch {
    return undefined
  }
}

/** Answers the requests of a job in a thread, see {@link ThreadRequest}. */
function serving(
  fs: object,
  commands: readonly CustomCommand[],
  {
    files,
    judge,
    readInput,
  }: Pick<Partial<ShellCommand>, 'files' | 'readInput'> & { readonly judge?: StartJudge | undefined } = {},
): JobOptions['serve'] {
  const searches = new Map<number, AsyncIterator<SearchBatch, void>>()
  return async (request) => {
    if ('fs' in request) return callFs(fs, request.fs, request.args)
    if ('search' in request) {
      const { search, ...start } = request
      const batches = searches.get(search) ?? (files && searchFiles(files)(start))
      if (batches !== undefined) searches.set(search, batches)
      return (await batches?.next())?.value
    }
    if ('start' in request) return judge?.refusal(request.start)
    if ('input' in request) return readInput?.(request.input)
    if ('operators' in request) return judge?.refusalOfOperators?.(request.operators)
    return commands.find(({ name }) => name === request.command)?.attempt(request.args, request)
  }
}

const callable: ReadonlySet<string> = new Set(fsMethods)

async function callFs(fs: object, method: string, args: readonly unknown[]): Promise<unknown> {
  if (!callable.has(method)) throw new TypeError(`There is no ${method}`)
  const result = await (fs as Readonly<Record<string, (...args: readonly unknown[]) => unknown>>)[method]?.(...args)
  return method === 'stat' || method === 'lstat' ? sentStat(result as FsStat) : result
}

/** Returns the interpreter's last directory if it is a visible one of the workspace; otherwise where it started. */
async function finalDirectory(pwd: string | undefined, roots: VirtualRoots, start: Path): Promise<Path> {
  const location = resolveVirtualPath(pwd ?? '', roots)
  if (location.in !== 'files' || location.files !== roots.workspace) return start
  const stat = await roots.workspace.stat(location.path).catch(() => undefined)
  return stat?.type === 'directory' ? stat.path : start
}

function toVirtual(path: Path, root: string): string {
  return path === '' ? root : `${root}/${path}`
}

/** The temporary files of one command, in memory and with limits. */
function scratchFiles(signal: AbortSignal): CommandFiles {
  return createCommandFiles({
    backend: memory({ tmp: { directory: true }, fd: { directory: true } }),
    judge: () => {},
    requireAllowed: () => {},
    visibility: () => ({ see: () => true, enter: () => true, revision: 'scratch' }),
    signal,
    onRead: () => {},
    limits: { treeEntries: 10_000, fileBytes: 16 * 1024 * 1024 },
  })
}

/** Maximum number of random bytes that the platform returns at once. */
const MAX_RANDOM_BYTES = 65_536

function randomBytes(bytes: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(Math.min(bytes, MAX_RANDOM_BYTES)))
}
