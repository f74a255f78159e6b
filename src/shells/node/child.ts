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
  /** The command's own name, which its environment carries. */
  readonly mark: string
  /** Text for the standard input, `open` for one that is written to later; without either it is empty. */
  readonly stdin?: string | { readonly open: true }
  /** How long it may take to end by itself once it is asked to, in milliseconds. */
  readonly graceMs: number
  readonly onOutput?: ((stream: 'stdout' | 'stderr', text: string) => void) | undefined
}

/** A process with all that it starts. */
export interface Child {
  /** Output since the last call. */
  output(): { readonly stdout: string; readonly stderr: string }
  /** Settles once it has ended, and everything that it started with it. */
  readonly ended: Promise<{ readonly exitCode: number; readonly report: string }>
  write(text: string): Promise<void>
  /** Ends it and everything that it has started. */
  stop(): void
}

/** Characters of each stream that are kept. */
const KEPT = 4 * 1024 * 1024
/** Characters of what a child may report. */
const REPORT = 16 * 1024
/** How long the rest of the output may take, once no process is left that writes, in milliseconds. */
const DRAIN_MS = 2000

/**
 * Starts a program with exactly these arguments, in a process group of its own. What it writes to descriptor 3 is its
 * report, apart from its output.
 *
 * @throws ToolError `SHELL_UNAVAILABLE` where it cannot be started
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { argv, cwd, env, mark, stdin, graceMs, onOutput } = options
  const child = spawn(argv[0] as string, argv.slice(1), {
    cwd,
    env: { ...env },
    // A group of its own, so that all of it can be ended at once.
    detached: true,
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
  })
  await started(child)
  const group = child.pid as number
  const stdout = createOutputTail(KEPT, onOutput && ((text) => onOutput('stdout', text)))
  const stderr = createOutputTail(KEPT, onOutput && ((text) => onOutput('stderr', text)))
  const report = createOutputTail(REPORT)
  const [input, out, err, told] = child.stdio as unknown as [Writable | null, Readable, Readable, Readable]
  out.on('data', stdout.add)
  err.on('data', stderr.add)
  told.on('data', report.add)
  for (const stream of [input, out, err, told]) stream?.on('error', () => {})
  if (typeof stdin === 'string') input?.end(stdin)

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal as NodeJS.Signals]))
  })

  async function end(): Promise<{ exitCode: number; report: string }> {
    const exitCode = await exited
    await endProcesses(group, mark, graceMs)
    // A process that could not be ended may hold a stream open.
    const late = new AbortController()
    const drained = delay(DRAIN_MS, undefined, { signal: late.signal }).catch(() => {})
    await Promise.race([closed, drained])
    late.abort()
    for (const stream of [input, out, err, told]) stream?.destroy()
    return { exitCode, report: report.take() }
  }
  const ended = end()
  let isStopping = false

  return {
    output: () => ({ stdout: stdout.take(), stderr: stderr.take() }),
    ended,
    async write(text) {
      if (input === null || input.destroyed || !input.writable) {
        throw new ToolError('SHELL_UNAVAILABLE', 'The command reads no input any more')
      }
      await new Promise<void>((resolve, reject) => {
        input.write(text, (error) => {
          if (error) reject(new ToolError('SHELL_UNAVAILABLE', 'The command reads no input any more'))
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

/** A file that cannot be started says so by an event. Its message holds physical paths. */
async function started(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ToolError('SHELL_UNAVAILABLE', `The command could not be started: ${error.code}`))
    })
  })
  child.on('error', () => {})
}
