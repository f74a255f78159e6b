/** A connection to one client: any transport of the official SDK, of version 1 or 2. */
export interface McpTransport {
  /** Begins to receive messages. */
  start(): Promise<void>
  /** Sends a message of JSON-RPC. */
  send(message: object, options?: object): Promise<void>
  /** Ends the connection. */
  close(): Promise<void>
  /** Called once the connection has ended. */
  onclose?: (() => void) | undefined
  /** Called for an error that does not end the connection. */
  onerror?: ((error: Error) => void) | undefined
  /** Called for each message of the client. */
  onmessage?: ((message: never, extra?: never) => void) | undefined
}

/** A transport that delivers only messages without a {@link malformedAnswer}. */
export interface CheckedTransport extends McpTransport {
  readonly isChecked: true
}
