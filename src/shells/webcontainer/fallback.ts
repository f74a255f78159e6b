import { ToolError } from '../../errors.ts'
import type { BackgroundCommand, Shell, ShellCommand, ShellOutcome, ShellProcess } from '../shell.ts'

/** Where there is no container: why, and what runs the commands, if anything. */
export interface Fallen {
  readonly reason: string
  readonly shell?: Shell
}

/** Runs a command; the result says what ran it, and why. @throws ToolError `SHELL_UNAVAILABLE` where nothing does */
export async function inItsPlace(fallen: Fallen, command: ShellCommand): Promise<ShellOutcome> {
  const outcome = await shellOf(fallen).run(command)
  return { ...outcome, warnings: [...(outcome.warnings ?? []), insteadOf(fallen)] }
}

/** Starts a background command, which says the same. @throws ToolError `SHELL_UNAVAILABLE` where nothing does */
export async function startInItsPlace(fallen: Fallen, command: BackgroundCommand): Promise<ShellProcess> {
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
  const stop = new AbortController()
  const signal = command.signal === undefined ? stop.signal : AbortSignal.any([command.signal, stop.signal])
  let stdout = ''
  let stderr = ''
  let exitCode: number | undefined
  async function run(): Promise<void> {
    const outcome = await shell.run({ ...command, signal })
    await command.keep()
    stdout += outcome.stdout
    stderr += outcome.stderr
    exitCode = outcome.exitCode
  }
  const ended = run().catch((error: unknown) => {
    stderr += `${error instanceof ToolError ? error.message : 'The command failed'}\n`
    exitCode = error instanceof ToolError && error.code === 'COMMAND_TIMEOUT' ? 124 : stop.signal.aborted ? 143 : 126
  })
  return {
    output() {
      const since = { stdout, stderr }
      stdout = ''
      stderr = ''
      return since
    },
    get exitCode() {
      return exitCode
    },
    async write() {
      throw new ToolError('SHELL_UNAVAILABLE', `A background command of ${shell.name} reads no input`)
    },
    async stop() {
      stop.abort()
      await ended
    },
    ended,
  }
}

function shellOf({ shell, reason }: Fallen): Shell {
  if (shell === undefined) throw new ToolError('SHELL_UNAVAILABLE', reason)
  return shell
}

function insteadOf({ shell, reason }: Fallen): string {
  return `${shell?.name} ran this. ${reason}`
}
