/** A connection to one client: any transport of the official SDK, of version 1 or 2. */
export interface McpTransport {
  start(): Promise<void>
  send(message: object, options?: object): Promise<void>
  close(): Promise<void>
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: ((message: never, extra?: never) => void) | undefined
}
