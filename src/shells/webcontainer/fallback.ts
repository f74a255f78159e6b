import { ToolError } from '../../errors.ts'
import { anySignal } from '../../util/abort.ts'
import { createLineProcess } from '../shared/line-process.ts'
import type { BackgroundCommand, Shell, ShellCommand, ShellOutcome, ShellProcess } from '../types.ts'

/** The reason why there is no container, and the shell that runs the commands instead, if any. */
export interface FallbackState {
  readonly reason: string
  /** How to fix it, if known. */
  readonly hint?: string | undefined
  readonly shell?: Shell
}

/** Runs a command in the fallback shell, with a warning. @throws ToolError `SHELL_UNAVAILABLE` without such a shell */
export async function runInFallback(fallback: FallbackState, command: ShellCommand): Promise<ShellOutcome> {
  const outcome = await requireShell(fallback).run(command)
  return { ...outcome, warnings: [...(outcome.warnings ?? []), fallbackWarning(fallback)] }
}

/** Starts a background command in the fallback shell, with a warning. @throws ToolError `SHELL_UNAVAILABLE` without such a shell */
export async function startInFallback(fallback: FallbackState, command: BackgroundCommand): Promise<ShellProcess> {
  const shell = requireShell(fallback)
  const process = shell.start === undefined ? startLine(shell, command) : await shell.start(command)
  let warning = `${fallbackWarning(fallback)}\n`
  return {
    output() {
      const { stdout, stderr } = process.output()
      const output = { stdout, stderr: warning + stderr }
      warning = ''
      return output
    },
    get exitCode() {
      return process.exitCode
    },
    write: process.write,
    stop: process.stop,
    ended: process.ended,
  }
}

/** Runs a whole line beside others, for a shell without processes. Its changes are committed when it ends. */
function startLine(shell: Shell, command: BackgroundCommand): ShellProcess {
  return createLineProcess(shell.name, async (stopped, shown) => {
    const signal = anySignal(command.signal, stopped)
    const outcome = await shell.run({ ...command, signal, onOutput: shown.add })
    await command.keep()
    return outcome
  })
}

function requireShell({ shell, reason, hint }: FallbackState): Shell {
  if (shell === undefined) throw new ToolError('SHELL_UNAVAILABLE', reason, hint === undefined ? {} : { hint })
  return shell
}

function fallbackWarning({ shell, reason }: FallbackState): string {
  return `${shell?.name} ran this. ${reason}`
}
