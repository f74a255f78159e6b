import type { Readable, Writable } from 'node:stream'
import type { CheckedTransport } from '../adapters/mcp/transport.ts'
import { type LineAnswers, messageReader } from './answered-lines.ts'

/** Requests that may run at the same time. Each may have an answer of 64 KiB. */
const MAX_RUNNING = 64

/** The fields of a message that say what it is. */
interface Message {
  readonly jsonrpc?: string
  readonly id?: unknown
  readonly method?: string
  readonly params?: { readonly requestId?: unknown }
}

/**
 * Serves the client of a process. Each line is parsed and checked once. Requests that come together begin one after another, so
 * that a call that waits for nothing is over, and its memory free, before the next one. None begins while the client does not read
 * the answers, or too many run.
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
  readonly #received: Message[][] = []
  /** The ids of the requests that run. */
  readonly #running = new Set<unknown>()
  readonly #onDrain = () => this.#resume(MAX_RUNNING)
  /** Number of the messages that wait for the client or for running requests. */
  #held = 0
  #isEnded = false
  #isClosed = false

  constructor(input: Readable, output: Writable, report: LineAnswers['report']) {
    this.#input = input
    this.#output = output
    this.#read = messageReader({ output, report }, (_, message) => this.#receive(message))
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read)
    // Behind the messages that have come before.
    this.#input.on('end', () => setImmediate(() => this.#end()))
    this.#input.on('error', this.#close)
    // It stays: a write may fail after the end, and would end the process.
    this.#output.on('error', this.#close)
    this.#output.on('drain', this.#onDrain)
    if (this.#input.readableEnded || this.#input.destroyed) setImmediate(this.#close)
  }

  async send(message: Message): Promise<void> {
    if (this.#isClosed) throw new Error('The connection is closed')
    this.#output.write(`${JSON.stringify(message)}\n`)
    if (message.method === undefined) this.#endRequest(message.id)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#input.off('data', this.#read)
    this.#output.off('drain', this.#onDrain)
    this.#input.pause()
    this.onclose?.()
  }

  #receive(message: Message): void {
    const last = this.#received.at(-1)
    // What running requests wait for, or what cancels them, does not wait for them.
    if (message.method === undefined || this.#running.has(message.params?.requestId)) {
      setImmediate(() => this.#pass(message))
    }
    // A notification may cancel the request before it.
    else if (last !== undefined && message.id === undefined) last.push(message)
    else {
      this.#received.push([message])
      setImmediate(() => this.#deliver())
    }
  }

  #deliver(): void {
    if (this.#output.writableNeedDrain || this.#running.size >= MAX_RUNNING) {
      this.#held += 1
      return
    }
    for (const message of this.#received.shift() ?? []) this.#pass(message)
  }

  #pass(message: Message): void {
    if (this.#isClosed) return
    const { id, method, params } = message
    if (id !== undefined && method !== undefined) this.#running.add(id)
    this.onmessage?.(message as never)
    // A cancelled request gets no answer.
    if (method === 'notifications/cancelled') this.#endRequest(params?.requestId)
    else if (id === undefined) this.#resume(1)
  }

  #endRequest(id: unknown): void {
    this.#running.delete(id)
    this.#resume(1)
  }

  #resume(count: number): void {
    for (let left = count; left > 0 && this.#held > 0; left -= 1) {
      this.#held -= 1
      setImmediate(() => this.#deliver())
    }
    if (this.#isEnded) setImmediate(() => this.#end())
  }

  #end(): void {
    this.#isEnded = true
    if (this.#held === 0) this.#close()
  }
}
