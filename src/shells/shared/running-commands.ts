import { ToolError } from '../../errors.ts'
import { refuseSurplus } from '../../util/check-options.ts'
import { runAfter } from '../../util/timers.ts'
import type { ShellCommand } from '../types.ts'

/** The running commands of a shell. Each ends by itself, or is ended by its timeout, its signal, or the end of the shell. */
export interface RunningCommands {
  /** Waits until a command has ended, or ends it by `kill`; then `cut` is the reason. */
  untilEnd<T>(
    ended: Promise<T>,
    kill: () => void,
    limits: Pick<ShellCommand, 'timeoutMs' | 'signal'>,
  ): Promise<{ readonly end: T; readonly cut: ToolError | undefined }>
  /** Adds a promise to those that {@link RunningCommands.settled} waits for, and returns it. */
  tracked<T>(promise: Promise<T>): Promise<T>
  /** Ends all running commands, and every command that starts later. */
  stop(): void
  /** Resolves when nothing runs any more. */
  settled(): Promise<void>
}

/** Tracks the running commands of one shell. */
export function createRunningCommands(): RunningCommands {
  refuseSurplus('createRunningCommands()', 0, arguments)
  const stops = new Set<() => void>()
  const running = new Set<Promise<unknown>>()
  let isStopped = false
  return {
    async untilEnd(ended, kill, { timeoutMs, signal }) {
      let cut: ToolError | undefined
      const stop = (error: ToolError) => {
        cut ??= error
        kill()
      }
      const abort = () => stop(commandStopped())
      const late = () =>
        stop(new ToolError('COMMAND_TIMEOUT', `The command did not end within ${timeoutMs} ms`, { value: timeoutMs }))
      const timer = runAfter(timeoutMs, late)
      stops.add(abort)
      signal?.addEventListener('abort', abort)
      if (signal?.aborted || isStopped) abort()
      try {
        return { end: await ended, cut }
      } finally {
        clearTimeout(timer)
        stops.delete(abort)
        signal?.removeEventListener('abort', abort)
      }
    },
    tracked(promise) {
      running.add(promise)
      const forget = () => running.delete(promise)
      promise.then(forget, forget)
      return promise
    },
    stop() {
      isStopped = true
      for (const stop of stops) stop()
    },
    async settled() {
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}

export function commandStopped(): ToolError {
  return new ToolError('ABORTED', 'The command was stopped')
}
