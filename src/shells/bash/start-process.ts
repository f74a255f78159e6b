import { type Thread, type ThreadEvents, threadFile } from './start-thread.ts'
import { type FromThread, PROCESS_ARGUMENT } from './thread-protocol.ts'

/** The parts of Node's child processes that are used here. */
interface NodeProcess {
  readonly channel?: { ref(): void; unref(): void } | null
  on(name: string, listener: (value: never) => void): void
  send(message: unknown, done: (error: Error | null) => void): boolean
  ref(): void
  unref(): void
  kill(signal: string): boolean
}

interface ChildProcesses {
  readonly fork: (file: unknown, args: readonly string[], options: object) => NodeProcess
}

/** The heap of a process: its old generation, in MB. */
const HEAP_MB = 256

/**
 * Starts a process of Node that speaks the protocol of threads. V8 ends the whole process for some errors, such as an
 * array of an invalid size, so a worker thread would take the program with it. The process ends itself when its memory goes
 * over its limit or the program has ended, see `watch-process.ts`.
 *
 * @throws Error if the platform does not allow child processes
 */
export function startNodeProcess({ onMessage, onEnd }: ThreadEvents): Thread {
  const { fork } = globalThis.process.getBuiltinModule('node:child_process') as unknown as ChildProcesses
  const { platform, env } = globalThis.process
  const child = fork(threadFile(), [PROCESS_ARGUMENT], {
    env: platform === 'win32' ? { SystemRoot: env.SystemRoot } : {},
    execArgv: [`--max-old-space-size=${HEAP_MB}`],
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    windowsHide: true,
  })
  child.on('message', (message: FromThread) => onMessage(message))
  child.on('error', () => onEnd())
  child.on('exit', () => onEnd())
  return {
    // A process that has ended reports that by itself.
    post: (message) => void child.send(message, () => {}),
    hold(isBusy) {
      if (isBusy) {
        child.ref()
        child.channel?.ref()
      } else {
        child.unref()
        child.channel?.unref()
      }
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
