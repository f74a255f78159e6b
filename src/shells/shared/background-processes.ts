import { ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import { counted } from '../../util/counted.ts'
import type { StartedProcess } from '../types.ts'
import { createHeldOutput, type HeldOutput } from './held-output.ts'

/** A background command that runs, or has ended recently. */
export interface RunningCommand {
  readonly id: string
  readonly line: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly process: StartedProcess
  readonly output: HeldOutput
}

/** The background commands of one run. */
export interface Processes {
  /** @throws ToolError `LIMIT_EXCEEDED` if the maximum runs already, `ABORTED` after `close` */
  requireRoom(): void
  /**
   * Adds a started command; `startedAt` in milliseconds since 1970.
   *
   * @throws ToolError `ABORTED` after `close`; the command is stopped as well
   */
  add(line: string, process: StartedProcess, startedAt: number): Promise<RunningCommand>
  /** @throws ToolError `NOT_FOUND` */
  get(id: string): RunningCommand
  /** Stops all commands, and every command that is added later. */
  close(): Promise<void>
}

/**
 * Creates the background commands of a run, at most `maxRunning` at once. Adds itself to `started` with the first command.
 * Ended commands stay available until more than twice the maximum are stored.
 */
export function createProcesses(maxRunning: number, started: Set<Processes>): Processes {
  const commands = new Map<string, RunningCommand>()
  let count = 0
  let isClosed = false
  const running = () => [...commands.values()].filter(({ process }) => process.exitCode === undefined)
  const processes: Processes = {
    requireRoom() {
      if (isClosed) throw ended()
      if (running().length < maxRunning) return
      throw new ToolError(
        'LIMIT_EXCEEDED',
        `${counted(maxRunning, 'background command runs', 'background commands run')} already`,
        {
          limit: 'processes',
          value: maxRunning,
          hint: 'Stop one with stop_command first.',
        },
      )
    },
    async add(line, process, startedAt) {
      if (isClosed) {
        await process.stop()
        throw ended()
      }
      count += 1
      started.add(processes)
      const command = { id: `process-${count}`, line, startedAt, process, output: createHeldOutput(process) }
      commands.set(command.id, command)
      for (const [id, old] of commands) {
        if (commands.size <= maxRunning * 2) break
        if (old.process.exitCode !== undefined) commands.delete(id)
      }
      return command
    },
    get(id) {
      const command = commands.get(id)
      if (command !== undefined) return command
      const ids = running().map((other) => other.id)
      throw new ToolError('NOT_FOUND', `There is no background command ${quote(id)} in this run`, {
        hint: ids.length === 0 ? 'Start one with start_command.' : `Those that run: ${ids.join(', ')}.`,
      })
    },
    async close() {
      isClosed = true
      await Promise.allSettled(running().map(({ process }) => process.stop()))
      commands.clear()
    },
  }
  return processes
}

function ended(): ToolError {
  return new ToolError('ABORTED', 'The run has ended')
}
