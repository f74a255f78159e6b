import { ToolError } from '../../errors.ts'
import type { BackgroundCommand, ShellProcess } from '../types.ts'
import type { LaunchedLine } from './launch.ts'

/** How a line ended. */
export interface LineEnd {
  readonly exitCode: number
  /** Text that the line wrote to descriptor 3. */
  readonly report: string
  /** Why the line was ended early, or did not begin. */
  readonly cut: ToolError | undefined
}

/** Wraps a background line. Its changes are applied when it ends, as a call of their own. */
export function createBackgroundProcess(
  { child, effects, stopWatching }: LaunchedLine,
  ending: Promise<LineEnd>,
  command: BackgroundCommand,
): ShellProcess {
  let exitCode: number | undefined
  let note = ''
  async function finish(): Promise<void> {
    const { exitCode: code, cut } = await ending
    const attempts = stopWatching(command.files)
    if (cut !== undefined && cut.code !== 'ABORTED') {
      await effects.drop()
      // Commits only the record of the refused reads.
      if (attempts > 0) await command.keep().catch(() => {})
      note = `${cut.message}\n`
      exitCode = cut.code === 'COMMAND_TIMEOUT' ? 124 : 126
      return
    }
    await effects.accept(command.files)
    await command.keep()
    exitCode = code
  }
  const ended = finish().catch((error: unknown) => {
    note = `${error instanceof ToolError ? error.message : 'The command failed'}\n`
    exitCode = 126
  })
  return {
    output() {
      const { stdout, stderr } = child.output()
      const output = { stdout, stderr: stderr + note }
      note = ''
      return output
    },
    get exitCode() {
      return exitCode
    },
    write: child.write,
    async stop() {
      child.stop()
      await ended
    },
    ended,
  }
}
