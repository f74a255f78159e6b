import {
  isAbortSignal,
  isFunction,
  isObjectValue,
  isText,
  type OptionTable,
  refuseSurplus,
} from '../../util/check-options.ts'
import { isTimeout, optionsAt, withMethodOptions } from '../sandbox/method-options.ts'
import { type LineOutcome, runLine } from '../sandbox/run-line.ts'
import { openTarget, refuseEnvironment, type SandboxOptions, type SandboxTarget } from '../sandbox/target.ts'

/** Options of a command of Mastra. */
export interface MastraCommandOptions {
  /** Milliseconds. */
  readonly timeout?: number
  /** Must be empty. */
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  readonly abortSignal?: AbortSignal
  /** Called with the output when the command has ended. */
  readonly onStdout?: (data: string) => void
  /** As `onStdout`, for the error output. */
  readonly onStderr?: (data: string) => void
}

const commandTable: OptionTable<MastraCommandOptions> = {
  ...{ timeout: isTimeout, env: isObjectValue, cwd: isText, abortSignal: isAbortSignal },
  ...{ onStdout: isFunction, onStderr: isFunction },
}

/** How a command ended. */
export interface MastraCommandResult {
  success: boolean
  /** 126 if it was refused, 124 after a timeout. */
  exitCode: number
  stdout: string
  stderr: string
  executionTimeMs: number
  timedOut: boolean
}

/** `WorkspaceSandbox` of Mastra, without background processes. */
export interface MastraSandbox {
  readonly id: string
  readonly name: string
  readonly provider: string
  status: 'running'
  /** Does nothing: a workspace has checkpoints of its own. */
  snapshot(): Promise<void>
  /** Returns what an agent should know. */
  getInstructions(): string
  /** Runs a command line. `args` are quoted. */
  executeCommand(
    command: string,
    args?: readonly string[],
    options?: MastraCommandOptions,
  ): Promise<MastraCommandResult>
}

/**
 * Returns the commands of a workspace or a run as a sandbox of Mastra, for `new Workspace({ sandbox })` of `@mastra/core` 1.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const { stdout } = await mastraSandbox(workspace).executeCommand('ls')
 */
export function mastraSandbox(target: SandboxTarget, options?: SandboxOptions): MastraSandbox {
  refuseSurplus('mastraSandbox()', 2, arguments)
  const open = openTarget('mastraSandbox()', target, options)
  const methods: MastraSandbox = {
    ...{ id: 'wardspace', name: 'wardspace', provider: 'wardspace', status: 'running' },
    snapshot: async () => {},
    getInstructions: () =>
      `Commands start at the root of the workspace, which they see at ${open.root}. Some are refused: the output says why and what to do.`,
    async executeCommand(command, args = [], { timeout: timeoutMs, env, cwd, abortSignal: signal, ...listeners } = {}) {
      refuseEnvironment(env)
      const line = [command, ...args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`)].join(' ')
      const where = cwd === undefined ? undefined : open.inward(cwd)
      const outcome = await runLine(open, line, { cwd: where, timeoutMs, signal })
      return resultOf(outcome, listeners)
    },
  }
  return withMethodOptions('mastraSandbox()', methods, { executeCommand: optionsAt(2, commandTable) })
}

function resultOf(
  { stdout, stderr, exitCode, durationMs, timedOut }: LineOutcome,
  { onStdout, onStderr }: Pick<MastraCommandOptions, 'onStdout' | 'onStderr'>,
): MastraCommandResult {
  if (stdout !== '') onStdout?.(stdout)
  if (stderr !== '') onStderr?.(stderr)
  return { success: exitCode === 0, exitCode, stdout, stderr, executionTimeMs: durationMs, timedOut }
}
