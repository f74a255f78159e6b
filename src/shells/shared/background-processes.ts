import { ToolError } from '../../errors.ts'
import { quote } from '../../paths/logical-path.ts'
import type { ShellProcess } from '../types.ts'

/** A command that runs in the background, or has ended and was not yet forgotten. */
export interface RunningCommand {
  readonly id: string
  readonly line: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  readonly process: ShellProcess
}

/** The background commands of one run. */
export interface Processes {
  /** @throws ToolError `LIMIT_EXCEEDED` where too many run already, `ABORTED` when all were ended */
  requireRoom(): void
  /**
   * Takes in a command that has begun; `startedAt` in milliseconds since 1970.
   *
   * @throws ToolError `ABORTED` when all were ended meanwhile, and then this one is as well
   */
  add(line: string, process: ShellProcess, startedAt: number): Promise<RunningCommand>
  /** @throws ToolError `NOT_FOUND` */
  get(id: string): RunningCommand
  /** Ends all of them, and what is started later. */
  close(): Promise<void>
}

/** Background commands, at most so many at once. They add themselves to `started` with the first. Ended ones are remembered until there are as many again. */
export function createProcesses(most: number, started: Set<Processes>): Processes {
  const commands = new Map<string, RunningCommand>()
  let count = 0
  let isClosed = false
  const running = () => [...commands.values()].filter(({ process }) => process.exitCode === undefined)
  const processes: Processes = {
    requireRoom() {
      if (isClosed) throw ended()
      if (running().length < most) return
      throw new ToolError('LIMIT_EXCEEDED', `${most} background commands run already`, {
        limit: 'processes',
        value: most,
        hint: 'Stop one with stop_command first.',
      })
    },
    async add(line, process, startedAt) {
      if (isClosed) {
        await process.stop()
        throw ended()
      }
      count += 1
      started.add(processes)
      const command = { id: `process-${count}`, line, startedAt, process }
      commands.set(command.id, command)
      for (const [id, old] of commands) {
        if (commands.size <= most * 2) break
        if (old.process.exitCode !== undefined) commands.delete(id)
      }
      return command
    },
    get(id) {
      const found = commands.get(id)
      if (found !== undefined) return found
      const known = running().map((command) => command.id)
      throw new ToolError('NOT_FOUND', `There is no background command ${quote(id)} in this run`, {
        hint: known.length === 0 ? 'Start one with start_command.' : `Those that run: ${known.join(', ')}.`,
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
