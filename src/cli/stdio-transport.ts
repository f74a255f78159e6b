import type { Readable, Writable } from 'node:stream'
import type { CheckedTransport } from '../adapters/mcp/transport.ts'
import { type LineAnswers, messageReader } from './answered-lines.ts'

/**
 * Serves the client of a process. Each line is parsed and checked once. Requests that come together begin one after another, so
 * that a call that waits for nothing is over, and its memory free, before the next one.
 */
export class StdioTransport implements CheckedTransport {
  readonly isChecked = true
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: never) => void
  readonly #input: Readable
  readonly #output: Writable
  readonly #read: (chunk: Buffer) => void
  readonly #close = () => void this.close()
  /** Messages that begin one after another. */
  readonly #received: object[][] = []
  #isClosed = false

  constructor(input: Readable, output: Writable, report: LineAnswers['report']) {
    this.#input = input
    this.#output = output
    this.#read = messageReader({ output, report }, (_, message) => this.#receive(message))
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    // Behind the messages that have come before.
    this.#input.on('end', () => setImmediate(this.#close))
    this.#input.on('error', this.#close)
    // It stays: a write may fail after the end, and would end the process.
    this.#output.on('error', this.#close)
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#close)
  }

  async send(message: object): Promise<void> {
    if (this.#isClosed) throw new Error('The connection is closed')
    this.#output.write(`${JSON.stringify(message)}\n`)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#input.off('data', this.#read)
    this.#input.pause()
    this.onclose?.()
  }

  #receive(message: object): void {
    const last = this.#received.at(-1)
    // A notification may cancel the request before it.
    if (last !== undefined && !('id' in message)) last.push(message)
    else {
      this.#received.push([message])
      setImmediate(() => this.#deliver())
    }
  }

  #deliver(): void {
    for (const message of this.#received.shift() ?? []) if (!this.#isClosed) this.onmessage?.(message as never)
  }
}
