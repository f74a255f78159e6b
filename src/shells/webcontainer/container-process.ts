import { ToolError } from '../../errors.ts'
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
  /** Below the container's working directory. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly terminal: Terminal
  readonly onOutput?: ((text: string) => void) | undefined
}

/** A process in a container. */
export interface ContainerProcess {
  /** Output since the last call, the two streams as they came. */
  output(): string
  /** Settles once it has ended and its output is here; the code is `undefined` where it had to be given up. */
  readonly ended: Promise<number | undefined>
  write(text: string): Promise<void>
  resize(terminal: Terminal): void
  /** Ends it. One that is not ended within the grace is given up. */
  kill(): void
}

/** Characters that are kept. */
const KEPT = 4 * 1024 * 1024
/** How long the rest of the output may take once the process has ended, in milliseconds. */
const DRAIN_MS = 2000

/** Starts a script in the container's shell. @throws ToolError `SHELL_UNAVAILABLE` */
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
  const tail = createOutputTail(KEPT, onOutput)
  const drained = drain(process.output, tail.addText)
  let giveUp = (): void => {}
  const given = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined)
  })
  let hasEnded = false
  let wasKilled = false
  async function end(): Promise<number | undefined> {
    const code = await Promise.race([process.exit.catch(() => undefined), given])
    hasEnded = true
    if (code === undefined) return undefined
    // A child that outlives its parent keeps the terminal open.
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
        // Its container is gone.
      }
      const timer = setTimeout(giveUp, graceMs)
      void ended.finally(() => clearTimeout(timer))
    },
  }
}

/** Reads a terminal's output. It ends its lines with two characters, as terminals do; here they have one. */
async function drain(output: ReadableStream<string>, add: (text: string) => void): Promise<void> {
  const reader = output.getReader()
  let held = ''
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const text = `${held}${next.value}`
      held = text.endsWith('\r') ? '\r' : ''
      add(text.slice(0, text.length - held.length).replaceAll('\r\n', '\n'))
    }
  } catch {
    // The container is gone.
  }
  add(held)
}
