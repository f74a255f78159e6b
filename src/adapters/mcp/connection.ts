import { hasNoAnswer, malformedAnswer } from './malformed-message.ts'
import type { Transport } from './sdk.ts'
import type { McpTransport } from './transport.ts'

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
    transport.onmessage = (message: Message) => {
      const answer = 'isChecked' in transport ? undefined : malformedAnswer(message)
      if (answer === undefined) this.onmessage?.(message)
      else if (hasNoAnswer(message)) this.onerror?.(new Error(answer.error.message))
      else void this.send(answer as unknown as Message).catch((error) => this.onerror?.(error))
    }
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
