import type { BashExecResult, Command, IFileSystem } from 'just-bash'
import { ToolError } from '../../errors.ts'
import type { Interpreter } from './just-bash.ts'

/** A line as the interpreter gets it, in whatever thread it runs. */
export interface LineRequest {
  readonly line: string
  /** As a path of the tree that commands see. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly timeoutMs: number
}

export interface LineResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  /** Where the interpreter says that it ended. */
  readonly pwd: string | undefined
}

/** What a line works with. */
export interface LineWorld {
  readonly fs: IFileSystem
  readonly commands: readonly Command[]
  readonly signal: AbortSignal
}

/** A script of more commands than this is stopped, so that none can keep a page busy. */
const MAX_COMMANDS = 100_000
/** What the interpreter may gather before it is bounded for a model. */
export const MAX_OUTPUT = 32 * 1024 * 1024
/** How long a line that is late or called off may take to notice. */
export const GRACE_MS = 250

/** Runs a line to its end, or until it is late, called off, or over a bound; then it throws. */
export async function runLine(interpreter: Interpreter, request: LineRequest, world: LineWorld): Promise<LineResult> {
  const shell = new interpreter.Bash({
    fs: world.fs,
    cwd: request.cwd,
    env: { ...request.env },
    customCommands: [...world.commands],
    // What it guards against is code that reaches out of the interpreter; it would hide the timers of our own files, too.
    defenseInDepth: false,
    executionLimits: {
      maxExecutionTimeMs: request.timeoutMs,
      maxCommandCount: MAX_COMMANDS,
      maxLoopIterations: MAX_COMMANDS,
      maxOutputSize: MAX_OUTPUT,
    },
  })
  const { line, timeoutMs, stdin } = request
  const { signal } = world
  const end = performance.now() + timeoutMs
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = () => {}
  const called = new Promise<never>((_, reject) => {
    onAbort = () => reject(reasonOf(signal))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    // The interpreter stops by itself where it looks at its clock; a command that waits does not look.
    timer = setTimeout(() => reject(tooLate(timeoutMs)), timeoutMs + GRACE_MS)
  })
  try {
    const running = shell.exec(line, { signal, rawScript: true, ...(stdin === undefined ? {} : { stdin }) })
    running.catch(() => {})
    const result = await Promise.race([running, called])
    if (signal.aborted) throw reasonOf(signal)
    if (result.exitCode === 124 && performance.now() >= end) throw tooLate(timeoutMs)
    if (result.exitCode === 126) refuseRunaway(result)
    const { stdout, stderr, exitCode, env } = result
    return { stdout, stderr, exitCode, pwd: env.PWD }
  } catch (error) {
    if (error instanceof ToolError) throw error
    if (signal.aborted) throw reasonOf(signal)
    throw new ToolError('LIMIT_EXCEEDED', `The shell could not go on: ${plainMessage(error)}`)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Why a line was called off. */
function reasonOf({ reason }: AbortSignal): ToolError {
  return reason instanceof ToolError ? reason : new ToolError('ABORTED', 'The command was stopped')
}

/** A script that ran into a bound of the interpreter is not half kept. */
function refuseRunaway({ stderr }: BashExecResult): void {
  const [, why] = /bash: (.{1,200}), increase executionLimits\.\w+\n?$/.exec(stderr) ?? []
  if (why === undefined) return
  throw new ToolError('LIMIT_EXCEEDED', `The command was stopped: ${why}; nothing that it did was kept`)
}

export function tooLate(timeoutMs: number): ToolError {
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
