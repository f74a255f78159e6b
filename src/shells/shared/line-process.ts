import { ToolError } from '../../errors.ts'
import { checkArgument, isFunction, isText, refuseSurplus } from '../../util/check-options.ts'
import type { ShellOutcome, ShellProcess } from '../types.ts'
import { createShownOutput, type ShownOutput } from './shown-output.ts'

/**
 * Runs a line as a background process, which reads no input. Its output is available when the line has shown it or has ended. A
 * failure is reported on the error output, with the exit code that a system would set.
 */
export function createLineProcess(
  shell: string,
  run: (signal: AbortSignal, shown: ShownOutput) => Promise<Pick<ShellOutcome, 'stdout' | 'stderr' | 'exitCode'>>,
): ShellProcess {
  refuseSurplus('createLineProcess()', 2, arguments)
  checkArgument('createLineProcess()', 'shell', shell, isText)
  checkArgument('createLineProcess()', 'run', run, isFunction)
  const stop = new AbortController()
  let unread = { stdout: '', stderr: '' }
  const shown = createShownOutput((stream, text) => {
    unread[stream] += text
  })
  let exitCode: number | undefined
  async function finish(): Promise<void> {
    try {
      const outcome = await run(stop.signal, shown)
      shown.end(outcome)
      exitCode = outcome.exitCode
    } catch (error) {
      unread.stderr += `${error instanceof ToolError ? error.message : 'The command failed'}\n`
      exitCode = error instanceof ToolError && error.code === 'COMMAND_TIMEOUT' ? 124 : stop.signal.aborted ? 143 : 126
    }
  }
  const ended = finish()
  return {
    output() {
      const output = unread
      unread = { stdout: '', stderr: '' }
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
