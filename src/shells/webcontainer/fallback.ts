import { ToolError } from '../../errors.ts'
import { createLineProcess } from '../shared/line-process.ts'
import type { BackgroundCommand, Shell, ShellCommand, ShellOutcome, ShellProcess } from '../types.ts'

/** Where there is no container: why, and what runs the commands, if anything. */
export interface FallbackState {
  readonly reason: string
  /** What would mend it, where that is known. */
  readonly hint?: string | undefined
  readonly shell?: Shell
}

/** Runs a command; the result says what ran it, and why. @throws ToolError `SHELL_UNAVAILABLE` where nothing does */
export async function runInFallback(fallen: FallbackState, command: ShellCommand): Promise<ShellOutcome> {
  const outcome = await shellOf(fallen).run(command)
  return { ...outcome, warnings: [...(outcome.warnings ?? []), insteadOf(fallen)] }
}

/** Starts a background command, which says the same. @throws ToolError `SHELL_UNAVAILABLE` where nothing does */
export async function startInFallback(fallen: FallbackState, command: BackgroundCommand): Promise<ShellProcess> {
  const shell = shellOf(fallen)
  const process = shell.start === undefined ? toItsEnd(shell, command) : await shell.start(command)
  let note = `${insteadOf(fallen)}\n`
  return {
    output() {
      const { stdout, stderr } = process.output()
      const told = note
      note = ''
      return { stdout, stderr: told + stderr }
    },
    get exitCode() {
      return process.exitCode
    },
    write: process.write,
    stop: process.stop,
    ended: process.ended,
  }
}

/** A line of a shell without processes runs beside the others; what it changes is carried out at its end. */
function toItsEnd(shell: Shell, command: BackgroundCommand): ShellProcess {
  return createLineProcess(shell.name, async (stopped) => {
    const signal = command.signal === undefined ? stopped : AbortSignal.any([command.signal, stopped])
    const outcome = await shell.run({ ...command, signal })
    await command.keep()
    return outcome
  })
}

function shellOf({ shell, reason, hint }: FallbackState): Shell {
  if (shell === undefined) throw new ToolError('SHELL_UNAVAILABLE', reason, hint === undefined ? {} : { hint })
  return shell
}

function insteadOf({ shell, reason }: FallbackState): string {
  return `${shell?.name} ran this. ${reason}`
}
