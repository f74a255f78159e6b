import type { McpServer } from '../mcp/index.ts'

/** The server of one session. */
export interface McpSession {
  /** A server of `createMcpServer`, or of the official SDK. Two sessions must not share a server. */
  readonly server: Pick<McpServer, 'connect'>
  /** Called when the session ends, for example to close its run. */
  close?(): void | Promise<void>
}
