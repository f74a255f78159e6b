import { ToolError } from '../../errors.ts'
import { errorText, type OpenTarget } from './target.ts'

/** How a command line ended. */
export interface LineOutcome {
  readonly stdout: string
  readonly stderr: string
  /** 126 if the line was refused, 124 after a timeout. */
  readonly exitCode: number
  readonly durationMs: number
  /** Whether only the end of the output is in it. */
  readonly truncated: boolean
  readonly timedOut: boolean
}

/** Where and how long a line runs. */
export interface LineOptions {
  /** A path of the workspace. Default: the root, whatever earlier lines did. */
  readonly cwd?: string | undefined
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Runs a command line as a call of `run_command`. A refused line has the exit code 126, and the refusal as `stderr`.
 *
 * @throws the reason of the signal, if the call is cancelled
 */
export async function runLine(target: OpenTarget, command: string, options: LineOptions = {}): Promise<LineOutcome> {
  const { cwd = '.', timeoutMs } = options
  const signal = target.signal(options.signal)
  const timeout = timeoutMs === undefined ? {} : { timeoutMs: Math.max(1, Math.round(timeoutMs)) }
  try {
    const result = await target.call('run_command', { command, cwd, ...timeout }, options.signal)
    const { stdout, stderr, exitCode, durationMs, truncated } = result as unknown as LineOutcome
    return { stdout, stderr, exitCode, durationMs, truncated, timedOut: false }
  } catch (error) {
    if (!(error instanceof ToolError)) throw error
    if (error.code === 'ABORTED' && signal?.aborted) throw signal.reason
    const timedOut = error.code === 'COMMAND_TIMEOUT'
    const exitCode = timedOut ? 124 : 126
    return { stdout: '', stderr: `${errorText(error)}\n`, exitCode, durationMs: 0, truncated: false, timedOut }
  }
}
