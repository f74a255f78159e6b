import { ToolError } from '../../errors.ts'
import { lastBytes } from '../../files/text/last-bytes.ts'
import type { LineOutcome } from '../sandbox/run-line.ts'
import { protocolError } from './errors.ts'
import type { AcpExitStatus, AcpParams, AcpResults } from './types.ts'

/** The largest number of terminals that are not released. */
const MAX_TERMINALS = 64

/** Runs a line until it ends or the signal stops it, which rejects. */
export type RunTerminalLine = (signal: AbortSignal) => Promise<LineOutcome>

/** One command line of an agent. */
class Terminal {
  readonly stop = new AbortController()
  /** How the line ended. Never rejects. */
  readonly ended: Promise<AcpExitStatus>
  exitStatus: AcpExitStatus | undefined
  output = ''
  truncated = false

  constructor(
    readonly sessionId: string,
    limit: number,
    run: RunTerminalLine,
  ) {
    this.ended = this.#run(run, limit)
  }

  async #run(run: RunTerminalLine, limit: number): Promise<AcpExitStatus> {
    try {
      const { stdout, stderr, exitCode, truncated } = await run(this.stop.signal)
      const whole = stdout + stderr
      this.output = lastBytes(whole, limit)
      this.truncated = truncated || this.output.length < whole.length
      this.exitStatus = { exitCode, signal: null }
    } catch {
      // Refusals are results. What remains is the signal, and exceptions of the target, whose texts are not for an agent.
      this.exitStatus = this.stop.signal.aborted
        ? { exitCode: null, signal: 'SIGTERM' }
        : { exitCode: 126, signal: null }
    }
    return this.exitStatus
  }
}

/** The commands that an agent has started and not released. */
export class Terminals {
  readonly #terminals = new Map<string, Terminal>()

  /** Starts a line. Its output is that of the whole line, and is there when it has ended. */
  create({ sessionId, outputByteLimit }: AcpParams['terminal/create'], run: RunTerminalLine): string {
    if (this.#terminals.size >= MAX_TERMINALS)
      throw protocolError('invalid', `More than ${MAX_TERMINALS} terminals are open: release those that have ended`)
    const id = crypto.randomUUID()
    this.#terminals.set(id, new Terminal(sessionId, outputByteLimit ?? Number.POSITIVE_INFINITY, run))
    return id
  }

  /** Returns the output so far, and how the line ended. */
  output(params: AcpParams['terminal/output']): AcpResults['terminal/output'] {
    const { output, truncated, exitStatus } = this.#get(params)
    return { output, truncated, ...(exitStatus && { exitStatus }) }
  }

  /** Waits until the line has ended. The signal ends the waiting alone. */
  wait(params: AcpParams['terminal/wait_for_exit'], signal: AbortSignal | undefined): Promise<AcpExitStatus> {
    const { ended } = this.#get(params)
    return new Promise((resolve, reject) => {
      const stop = () => reject(new ToolError('ABORTED', 'The command goes on, and nobody waits for it'))
      if (signal?.aborted) stop()
      signal?.addEventListener('abort', stop, { once: true })
      void ended.then(resolve).finally(() => signal?.removeEventListener('abort', stop))
    })
  }

  /** Stops the line. Its output stays until the release. */
  async kill(params: AcpParams['terminal/kill']): Promise<void> {
    const { stop, ended } = this.#get(params)
    stop.abort()
    await ended
  }

  async release(params: AcpParams['terminal/release']): Promise<void> {
    await this.kill(params)
    this.#terminals.delete(params.terminalId)
  }

  /** Stops all of them. */
  async close(): Promise<void> {
    const all = [...this.#terminals.values()]
    for (const { stop } of all) stop.abort()
    await Promise.all(all.map(({ ended }) => ended))
  }

  #get({ sessionId, terminalId }: { readonly sessionId: string; readonly terminalId: string }): Terminal {
    const terminal = this.#terminals.get(terminalId)
    if (terminal !== undefined && terminal.sessionId === sessionId) return terminal
    throw protocolError('missing', `terminal ${terminalId}`)
  }
}
