import type { BashExecResult, Command, IFileSystem } from 'just-bash'
import { ToolError } from '../../errors.ts'
import { LONGEST_MS, runAfter } from '../../util/timers.ts'
import { bashSyntax } from './bash-syntax.ts'
import { followScripts, judgeStarts, type StartJudge } from './command-hooks.ts'
import type { Interpreter } from './just-bash.ts'
import type { LiveOutput } from './live-output.ts'
import { withOwnTexts } from './own-texts.ts'
import { givePersonInput, PERSON_INPUT, type PersonInput } from './person-input.ts'
import { absoluteTargets } from './redirect-targets.ts'
import { RefusalLog, refusalCommands } from './refusal-texts.ts'
import { trapsOf } from './traps.ts'

/** A line for the interpreter, in whichever thread it runs. */
export interface LineRequest {
  readonly line: string
  /** Absolute path under which commands see the workspace. */
  readonly root: string
  /** A path of the tree that commands see. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly stdin?: string
  readonly timeoutMs: number
  /** Whether policy has rules on the commands that start, and on the operators of scripts. */
  readonly judges?: { readonly operators: boolean } | undefined
}

export interface LineResult {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
  /** The interpreter's directory at the end. */
  readonly pwd: string | undefined
}

/** The files and commands of a line. */
export interface LineEnvironment {
  readonly fs: IFileSystem
  readonly commands: readonly Command[]
  /** Decides about what starts, if policy has rules on commands. */
  readonly judge?: StartJudge | undefined
  readonly signal: AbortSignal
  readonly live?: LiveOutput | undefined
  /** What a person enters while the line runs. */
  readonly input?: PersonInput | undefined
}

/** More names than a path can have: `find` would leave out deeper ones without a word. */
const MAX_DEPTH = 4096
/** Maximum number of commands in a script, so that it cannot keep a page busy. */
const MAX_COMMANDS = 100_000
/** Maximum output in the interpreter, in bytes. What a model gets is bounded separately. */
export const MAX_OUTPUT = 32 * 1024 * 1024
/** Milliseconds that a line has to end itself after its timeout or an abort. */
export const GRACE_MS = 250

/**
 * Milliseconds by which the interpreter's clock and ours may differ. It stops that much later, so that its exit code 124 is
 * never taken for that of a program.
 */
const CLOCK_TOLERANCE_MS = 10

/**
 * Runs a line to its end.
 *
 * @throws ToolError `COMMAND_TIMEOUT`, `ABORTED`, or `LIMIT_EXCEEDED` if it exceeds a limit or the interpreter fails
 */
export async function runLine(
  interpreter: Interpreter,
  request: LineRequest,
  environment: LineEnvironment,
): Promise<LineResult> {
  if (environment.judge !== undefined && !interpreter.judgesStarts) {
    throw new ToolError('SHELL_UNAVAILABLE', 'bash() cannot apply rules on commands on this platform', {
      hint: 'Report this to the user: the functions of the platform are frozen.',
    })
  }
  const refusals = new RefusalLog()
  const shell = new interpreter.Bash({
    fs: refusals.watch(environment.fs),
    cwd: request.cwd,
    env: { ...request.env },
    // Of two commands of one name, the last one counts.
    customCommands: [...refusalCommands(refusals), ...environment.commands],
    // just-bash's defense against code that reaches out of the interpreter also hides the timers that our own files need.
    defenseInDepth: false,
    executionLimits: {
      maxExecutionTimeMs: Math.min(request.timeoutMs + CLOCK_TOLERANCE_MS, LONGEST_MS),
      maxCommandCount: MAX_COMMANDS,
      maxLoopIterations: MAX_COMMANDS,
      maxOutputSize: MAX_OUTPUT,
      maxTraversalDepth: MAX_DEPTH,
    },
  })
  const traps = trapsOf(shell)
  for (const command of traps.commands) shell.registerCommand(command)
  const { live, judge, input } = environment
  judgeStarts(shell, judge, () => {
    for (const plugin of [absoluteTargets, bashSyntax(request.root), traps.plugin])
      shell.registerTransformPlugin(plugin)
    if (live !== undefined) followScripts(shell, live)
  })
  const { line, timeoutMs } = request
  const asks = input !== undefined && request.stdin === undefined && interpreter.judgesStarts
  if (asks) givePersonInput(shell, { input, live })
  const stdin = asks ? PERSON_INPUT : request.stdin
  const { signal } = environment
  const end = performance.now() + timeoutMs
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = () => {}
  const interruption = new Promise<never>((_, reject) => {
    onAbort = () => reject(reasonOf(signal))
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    // just-bash stops itself where it checks its clock, but a command that waits does not check it.
    timer = runAfter(timeoutMs + GRACE_MS, () => reject(tooLate(timeoutMs)))
  })
  try {
    // Without it, `cd -` would go to a directory of the interpreter.
    const env = { OLDPWD: request.env.OLDPWD ?? request.cwd }
    const running = shell.exec(line, { signal, env, rawScript: true, ...(stdin === undefined ? {} : { stdin }) })
    running.catch(() => {})
    const result = await Promise.race([running, interruption])
    if (signal.aborted) throw reasonOf(signal)
    if (result.exitCode === 124 && performance.now() >= end) throw tooLate(timeoutMs)
    if (result.exitCode === 126) refuseRunaway(result)
    const { stdout, stderr, exitCode, env: lastEnv } = withOwnTexts(result)
    return { stdout, stderr, exitCode, pwd: lastEnv.PWD }
  } catch (error) {
    if (error instanceof ToolError) throw error
    if (signal.aborted) throw reasonOf(signal)
    // A refusal that no program has handled ends the line under its own code.
    const { refusal } = error as { refusal?: unknown }
    if (refusal instanceof ToolError) throw refusal
    throw new ToolError('LIMIT_EXCEEDED', `The shell could not go on: ${plainMessage(error)}`)
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** The error that aborts a line. */
function reasonOf({ reason }: AbortSignal): ToolError {
  return reason instanceof ToolError ? reason : new ToolError('ABORTED', 'The command was stopped')
}

/** Refuses a script that exceeded a limit of the interpreter, so that no part of its changes is kept. */
function refuseRunaway({ stderr }: BashExecResult): void {
  const limit = /bash: (.{1,200})(?:, increase executionLimits\.\w+|; this shell allows no more)\n?$/
  const [, reason] = limit.exec(stderr) ?? []
  if (reason === undefined) return
  throw new ToolError('LIMIT_EXCEEDED', `The command was stopped: ${reason}; nothing that it did was kept`)
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

/** The interpreter's message about its own failure, on one line of at most 200 characters. */
function plainMessage(error: unknown): string {
  const { message } = error as { message?: unknown }
  return typeof message === 'string' ? message.replace(/\s+/g, ' ').slice(0, 200) : 'it failed'
}
