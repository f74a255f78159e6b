import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { ToolError } from '../../errors.ts'
import { createOutputTail } from '../shared/output-tail.ts'
import { endProcesses } from './end-processes.ts'

export interface ChildOptions {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** Unique name of the command, stored in the environment of its processes. */
  readonly mark: string
  /** Text for the standard input, or `open` to write to it later. Default: empty. */
  readonly stdin?: string | { readonly open: true }
  /** Time to end after SIGTERM, in milliseconds, before SIGKILL. */
  readonly graceMs: number
  readonly onOutput?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined
}

/** A process and all its descendants. */
export interface Child {
  /** Output since the last call. */
  output(): { readonly stdout: string; readonly stderr: string }
  /** Settles when the process and all its descendants have ended. */
  readonly ended: Promise<{ readonly exitCode: number; readonly report: string }>
  write(text: string): Promise<void>
  /** Ends the process and all its descendants. */
  stop(): void
}

/** Characters kept of each stream. */
const MAX_OUTPUT = 4 * 1024 * 1024
/** Characters kept of the report. */
const MAX_REPORT = 16 * 1024
/** Time for the remaining output after all processes have ended, in milliseconds. */
const DRAIN_MS = 2000

/**
 * Starts a program with exactly these arguments, in its own process group. Text that it writes to descriptor 3 becomes
 * its report, separate from the output.
 *
 * @throws ToolError `SHELL_UNAVAILABLE` if it cannot be started
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { argv, cwd, env, mark, stdin, graceMs, onOutput } = options
  const child = spawn(argv[0] as string, argv.slice(1), {
    cwd,
    env: { ...env },
    // A new process group, so that one signal reaches all its processes.
    detached: true,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  await untilSpawned(child)
  const group = child.pid as number
  const stdout = createOutputTail(MAX_OUTPUT, onOutput && ((text) => onOutput('stdout', text)))
  const stderr = createOutputTail(MAX_OUTPUT, onOutput && ((text) => onOutput('stderr', text)))
  const report = createOutputTail(MAX_REPORT)
  const [input, out, err, reports] = child.stdio as unknown as [Writable | null, Readable, Readable, Readable]
  out.on('data', stdout.add)
  err.on('data', stderr.add)
  reports.on('data', report.add)
  for (const stream of [input, out, err, reports]) stream?.on('error', () => {})
  if (typeof stdin === 'string') input?.end(stdin)

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]))
  })

  async function end(): Promise<{ exitCode: number; report: string }> {
    const exitCode = await exited
    await endProcesses(group, mark, graceMs)
    // A process that could not be ended may keep a stream open.
    const timeout = new AbortController()
    await Promise.race([closed, delay(DRAIN_MS, undefined, { signal: timeout.signal }).catch(() => {})])
    timeout.abort()
    for (const stream of [input, out, err, reports]) stream?.destroy()
    return { exitCode, report: report.take() }
  }
  const ended = end()
  let isStopping = false

  return {
    output: () => ({ stdout: stdout.take(), stderr: stderr.take() }),
    ended,
    async write(text) {
      if (input === null || input.destroyed || !input.writable) {
        throw new ToolError('SHELL_UNAVAILABLE', 'The command no longer reads input')
      }
      await new Promise<void>((resolve, reject) => {
        input.write(text, (error) => {
          if (error) reject(new ToolError('SHELL_UNAVAILABLE', 'The command no longer reads input'))
          else resolve()
        })
      })
    },
    stop() {
      if (isStopping) return
      isStopping = true
      void endProcesses(group, mark, graceMs)
    },
  }
}

/** Waits for the spawn event. The message of the error event contains physical paths, so only its code is passed on. */
async function untilSpawned(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ToolError('SHELL_UNAVAILABLE', `The command could not be started: ${error.code}`))
    })
  })
  child.on('error', () => {})
}
