import { ToolError } from '../../errors.ts'
import { runAfter } from '../../util/timers.ts'
import { createOutputTail } from '../shared/output-tail.ts'
import type { WebContainer } from './client.ts'
import { containerCall } from './container-call.ts'

/** The size of a terminal, in characters. */
export interface Terminal {
  readonly cols: number
  readonly rows: number
}

export interface ProcessOptions {
  readonly script: string
  /** Relative to the working directory of the container. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly terminal: Terminal
  readonly onOutput?: ((text: string) => void) | undefined
}

/** A process in a container. */
export interface ContainerProcess {
  /** Output of both streams since the last call, in order of arrival. */
  output(): string
  /** Settles when the process has ended and its output is complete. The code is `undefined` if it did not end in time. */
  readonly ended: Promise<number | undefined>
  write(text: string): Promise<void>
  resize(terminal: Terminal): void
  /** Ends the process. If it does not end within the grace period, {@link ended} settles without a code. */
  kill(): void
}

/** Characters of output that are kept. */
const MAX_OUTPUT = 4 * 1024 * 1024
/** Time for the remaining output after the process has ended, in milliseconds. */
const DRAIN_MS = 2000

/** Runs a script in the container's shell. @throws ToolError `SHELL_UNAVAILABLE` */
export async function startProcess(
  container: WebContainer,
  options: ProcessOptions,
  graceMs: number,
): Promise<ContainerProcess> {
  const { script, cwd, env, terminal, onOutput } = options
  const process = await containerCall(
    'start a process',
    container.spawn('jsh', ['-c', script], { cwd, env: { ...env }, terminal: { ...terminal } }),
  )
  const tail = createOutputTail(MAX_OUTPUT, onOutput)
  const drained = drain(process.output, tail.addText)
  let giveUp = (): void => {}
  const givenUp = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined)
  })
  let hasEnded = false
  let wasKilled = false
  async function end(): Promise<number | undefined> {
    const code = await Promise.race([process.exit.catch(() => undefined), givenUp])
    hasEnded = true
    if (code === undefined) return undefined
    // A descendant that still runs keeps the terminal open.
    await Promise.race([drained, new Promise((resolve) => setTimeout(resolve, DRAIN_MS))])
    return code & 255
  }
  const ended = end()
  let writer: WritableStreamDefaultWriter<string> | undefined
  return {
    output: tail.take,
    ended,
    async write(text) {
      if (hasEnded) throw new ToolError('SHELL_UNAVAILABLE', 'The command has ended and reads no input')
      writer ??= process.input.getWriter()
      await writer.write(text)
    },
    resize(size) {
      if (!hasEnded) process.resize({ ...size })
    },
    kill() {
      if (hasEnded || wasKilled) return
      wasKilled = true
      try {
        process.kill()
      } catch {
        // The container is gone.
      }
      const timer = runAfter(graceMs, giveUp)
      void ended.finally(() => clearTimeout(timer))
    },
  }
}

/** Reads the output of a terminal, and replaces its CRLF line ends by LF. */
async function drain(output: ReadableStream<string>, add: (text: string) => void): Promise<void> {
  const reader = output.getReader()
  let carry = ''
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const text = `${carry}${next.value}`
      carry = text.endsWith('\r') ? '\r' : ''
      add(text.slice(0, text.length - carry.length).replaceAll('\r\n', '\n'))
    }
  } catch {
    // The container is gone.
  }
  add(carry)
}
