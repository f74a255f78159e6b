import { ToolError } from '../../errors.ts'
import { checkArgument, isFunction, isText } from '../../util/check-options.ts'
import type { ShellOutcome, ShellProcess } from '../types.ts'

/**
 * Runs a line as a background process. Its output is available when it has ended, and it reads no input. A failure is
 * reported on the error output, with the exit code that a system would set.
 */
export function createLineProcess(
  shell: string,
  run: (signal: AbortSignal) => Promise<Pick<ShellOutcome, 'stdout' | 'stderr' | 'exitCode'>>,
): ShellProcess {
  checkArgument('createLineProcess()', 'shell', shell, isText)
  checkArgument('createLineProcess()', 'run', run, isFunction)
  const stop = new AbortController()
  let stdout = ''
  let stderr = ''
  let exitCode: number | undefined
  async function finish(): Promise<void> {
    try {
      const outcome = await run(stop.signal)
      stdout = outcome.stdout
      stderr = outcome.stderr
      exitCode = outcome.exitCode
    } catch (error) {
      stderr = `${error instanceof ToolError ? error.message : 'The command failed'}\n`
      exitCode = error instanceof ToolError && error.code === 'COMMAND_TIMEOUT' ? 124 : stop.signal.aborted ? 143 : 126
    }
  }
  const ended = finish()
  return {
    output() {
      const output = { stdout, stderr }
      stdout = ''
      stderr = ''
      return output
    },
    get exitCode() {
      return exitCode
    },
    async write() {
      throw new ToolError('SHELL_UNAVAILABLE', `A background command of ${shell} reads no input`)
    },
    async stop() {
      stop.abort()
      await ended
    },
    ended,
  }
}
