import type { Transport } from '@modelcontextprotocol/server'

/** A connection to one client: any transport of the official SDK, of version 1 or 2. */
export interface McpTransport {
  start(): Promise<void>
  send(message: object, options?: object): Promise<void>
  close(): Promise<void>
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: never, extra?: never) => void) | undefined
}

type Message = Parameters<Transport['send']>[0]

/** What a {@link Connection} does with messages and at its end. */
export interface ConnectionHooks {
  /** Returns the message to send in place of another one. */
  rewrite(message: Message): Message
  /** Called when the connection has ended, after the server's own handler. */
  onEnd(): void
}

/** The transport of a client as the SDK's server uses it. Handlers that the transport already has are still called. */
export class Connection implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  /** Settles as the start of the transport does. */
  started: Promise<void> = Promise.resolve()
  readonly #transport: McpTransport
  readonly #hooks: ConnectionHooks

  constructor(transport: McpTransport, hooks: ConnectionHooks) {
    this.#transport = transport
    this.#hooks = hooks
  }

  start(): Promise<void> {
    const transport = this.#transport
    const { onclose, onerror } = transport
    transport.onmessage = (message: Message) => this.onmessage?.(message)
    transport.onerror = (error) => {
      onerror?.(error)
      this.onerror?.(error)
    }
    transport.onclose = () => {
      onclose?.()
      this.onclose?.()
      this.#hooks.onEnd()
    }
    this.started = transport.start()
    return this.started
  }

  send(message: Message, options?: Parameters<Transport['send']>[1]): Promise<void> {
    return this.#transport.send(this.#hooks.rewrite(message), options)
  }

  close(): Promise<void> {
    return this.#transport.close()
  }
}
