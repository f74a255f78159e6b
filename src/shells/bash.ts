import type { Bash, BashExecResult } from 'just-bash'
import { memory } from '../backends/memory.ts'
import { ToolError } from '../errors.ts'
import type { Path } from '../paths/logical-path.ts'
import { bashFs } from './bash/fs.ts'
import { type Interpreter, loadInterpreter } from './bash/just-bash.ts'
import { HOME, type Places, placeOf } from './bash/places.ts'
import { searchCommands } from './bash/search-command.ts'
import { createCommandFiles } from './command-files.ts'
import { lineJudge } from './judging.ts'
import type { CommandFiles, Shell, ShellCommand, ShellOutcome } from './shell.ts'

export interface BashOptions {
  /** Bytes of chance, for `/dev/urandom`. Default: the platform's. */
  readonly random?: (bytes: number) => Uint8Array
  /** Variables of every command's environment. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * A bash in this process, over the workspace's own files: in the browser, at the edge and in Node. It has no processes
 * and no network; the workspace stands at `/workspace`. Needs the package just-bash, which is loaded when a command is
 * first run.
 *
 * @example
 * const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'a\n' }), policy: 'autonomous', shell: bash() })
 * const result = await workspace.call('run_command', { command: 'cat a.txt | tr a b > b.txt; ls' })
 * if (result.ok) console.log(result.stdout, result.filesChanged)
 * await workspace.close()
 */
export function bash(options: BashOptions = {}): Shell {
  const stops = new Set<AbortController>()
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
    judge: lineJudge({ root: HOME, shell: 'bash' }),
    async run(command) {
      const interpreter = await loadInterpreter()
      const stop = new AbortController()
      stops.add(stop)
      try {
        return await runLine(interpreter, command, options, stop.signal)
      } finally {
        stops.delete(stop)
      }
    },
    async close() {
      for (const stop of stops) stop.abort()
    },
  }
}

/** A script of more commands than this is stopped, so that none can keep the page busy. */
const MAX_COMMANDS = 100_000
/** What the interpreter may gather before it is bounded for a model. */
const MAX_OUTPUT = 32 * 1024 * 1024

async function runLine(
  interpreter: Interpreter,
  command: ShellCommand,
  options: BashOptions,
  closing: AbortSignal,
): Promise<ShellOutcome> {
  const signal = AbortSignal.any(command.signal === undefined ? [closing] : [closing, command.signal])
  const places = { workspace: command.files, scratch: scratchFiles(signal) }
  const shell = new interpreter.Bash({
    fs: bashFs({ ...places, ends: interpreter.ends, random: options.random ?? randomBytes }),
    cwd: inTree(command.cwd),
    env: { HOME, TMPDIR: '/tmp', ...options.env, ...command.env },
    customCommands: [...searchCommands(places)],
    // What it guards against is code that reaches out of the interpreter; it would hide the timers of our own files, too.
    defenseInDepth: false,
    executionLimits: {
      maxExecutionTimeMs: command.timeoutMs,
      maxCommandCount: MAX_COMMANDS,
      maxLoopIterations: MAX_COMMANDS,
      maxOutputSize: MAX_OUTPUT,
    },
  })
  const result = await execute(shell, command, signal)
  const cwd = await endedIn(result.env.PWD, places, command.cwd)
  return { stdout: result.stdout, stderr: result.stderr, exitCode: result.exitCode, cwd }
}

/** Runs the line to its end, or until it is late or called off. */
async function execute(shell: Bash, command: ShellCommand, signal: AbortSignal): Promise<BashExecResult> {
  const { line, timeoutMs, stdin } = command
  const end = performance.now() + timeoutMs
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = () => {}
  const called = new Promise<never>((_, reject) => {
    onAbort = () => reject(new ToolError('ABORTED', 'The command was stopped'))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    // The interpreter stops by itself where it looks at its clock; a command that waits does not look.
    timer = setTimeout(() => reject(tooLate(timeoutMs)), timeoutMs + GRACE_MS)
  })
  try {
    const running = shell.exec(line, { signal, rawScript: true, ...(stdin === undefined ? {} : { stdin }) })
    running.catch(() => {})
    const result = await Promise.race([running, called])
    if (signal.aborted) throw new ToolError('ABORTED', 'The command was stopped')
    if (result.exitCode === 124 && performance.now() >= end) throw tooLate(timeoutMs)
    if (result.exitCode === 126) refuseRunaway(result.stderr)
    return result
  } catch (error) {
    if (error instanceof ToolError) throw error
    if (signal.aborted) throw new ToolError('ABORTED', 'The command was stopped')
    throw new ToolError('LIMIT_EXCEEDED', `The shell could not go on: ${plainMessage(error)}`)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

const GRACE_MS = 250

/** A script that ran into a bound of the interpreter is not half kept. */
function refuseRunaway(stderr: string): void {
  const [, why] = /bash: (.{1,200}), increase executionLimits\.\w+\n?$/.exec(stderr) ?? []
  if (why === undefined) return
  throw new ToolError('LIMIT_EXCEEDED', `The command was stopped: ${why}; nothing that it did was kept`)
}

function tooLate(timeoutMs: number): ToolError {
  return new ToolError(
    'COMMAND_TIMEOUT',
    `The command took longer than ${timeoutMs} ms; nothing that it did was kept`,
    {
      limit: 'timeoutMs',
      value: timeoutMs,
    },
  )
}

/** What the interpreter says of its own failure; nothing else reaches a message. */
function plainMessage(error: unknown): string {
  const { message } = error as { message?: unknown }
  return typeof message === 'string' ? message.replace(/\s+/g, ' ').slice(0, 200) : 'it failed'
}

/** The directory that the interpreter says it ended in, where it shows. */
async function endedIn(pwd: string | undefined, places: Places, start: Path): Promise<Path> {
  const place = placeOf(pwd ?? '', places)
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
    sight: () => ({ see: () => true, enter: () => true, revision: 'scratch' }),
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
