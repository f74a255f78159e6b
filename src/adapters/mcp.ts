import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { InitializedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Workspace, WorkspaceRun } from '../workspace.ts'
import { instructionsFor } from './mcp/instructions.ts'
import { createServing, type Serves } from './mcp/served.ts'
import { serveTools } from './mcp/tools.ts'

/** What a server tells of itself, and whose calls it makes. */
export interface McpServerOptions {
  /** Default: `wardspace`. */
  readonly name?: string
  readonly version?: string
  /** The run that the client's calls belong to. Default: the workspace's own. */
  readonly run?: WorkspaceRun
  /** Milliseconds that the person at the client may take to answer a question. Default: half an hour. */
  readonly approvalTimeoutMs?: number
}

/** A person may take a while; the protocol's own limit is a minute. */
const APPROVAL_TIMEOUT = 30 * 60_000

/**
 * A server of the Model Context Protocol over a workspace, for one client: tools with annotations, output schemas, structured
 * results, progress and cancellation. It speaks over whatever transport it is connected to. A refusal is a result with
 * `isError`, its code and its hint as text, and the whole of it under `_meta['wardspace/failure']`. What policy asks is
 * asked at the client, by elicitation, where the workspace has no `approve` of its own and the client can do that; where no
 * answer comes, the call ends with `APPROVAL_REQUIRED` and can be resumed.
 *
 * @example
 * const server = createMcpServer(workspace)
 * await server.connect(new StdioServerTransport())
 */
export function createMcpServer(workspace: Workspace, options: McpServerOptions = {}): Server {
  const { name = 'wardspace', version = '0.1.0', run = workspace, approvalTimeoutMs = APPROVAL_TIMEOUT } = options
  const server = new Server(
    { name, version },
    {
      capabilities: { tools: { listChanged: true } },
      instructions: instructionsFor(workspace.tools),
      debouncedNotificationMethods: ['notifications/tools/list_changed'],
    },
  )
  const serving = createServing({ workspace, run }, follow)
  let stop = () => {}

  /** Listens to what is served. */
  function follow(serves: Serves): void {
    stop()
    stop = () => {}
    if ('failure' in serves) return
    let { mode } = serves.run
    stop = serves.workspace.subscribe((event) => {
      if (event.type === 'mode' && serves.run.mode !== mode) {
        mode = serves.run.mode
        told(server.sendToolListChanged())
      }
    })
  }

  serveTools(server, serving, { approvalTimeoutMs, answered: () => {} })
  server.setNotificationHandler(InitializedNotificationSchema, () => {
    follow({ workspace, run })
    server.oninitialized?.()
  })
  atEnd(server, () => stop())
  return server
}

/** A client that is gone need not be told. */
function told(sending: Promise<void>): void {
  sending.catch(() => {})
}

/** Does something when the connection ends, whatever its owner does then. */
function atEnd(server: Server, act: () => void): void {
  const { connect } = server
  server.connect = async (transport) => {
    const { onclose } = transport
    transport.onclose = () => {
      onclose?.()
      act()
    }
    await connect.call(server, transport)
  }
}
