import { Client, type ClientOptions } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import { createMcpServer, type McpServerOptions } from '../../src/adapters/mcp/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type DialectWorkspace, type Workspace, type WorkspaceOptions } from '../../src/index.ts'

/** Opens a workspace over a memory backend. */
export function workspaceOver(
  files: Record<string, string>,
  options: Partial<WorkspaceOptions> = {},
): Promise<Workspace> {
  return createWorkspace({ backend: memory(files), policy: 'autonomous', ...options })
}

/** Connects the official client to a server over a workspace, and records every message that the server sends. */
export async function connect<W extends Workspace | DialectWorkspace>(
  workspace: W,
  options: McpServerOptions = {},
  capabilities: ClientOptions['capabilities'] = {},
  prepare: (client: Client) => void = () => {},
) {
  const client = new Client({ name: 'test client', version: '1.0.0' }, { capabilities })
  prepare(client)
  const server = createMcpServer(workspace, options)
  const [here, there] = InMemoryTransport.createLinkedPair()
  const sent: JSONRPCMessage[] = []
  await server.connect(there)
  const { send } = there
  there.send = (message, settings) => {
    sent.push(message)
    return send.call(there, message, settings)
  }
  await client.connect(here)
  /** Returns the result of a call, or the complete refusal. */
  async function call(name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
    const result = await client.callTool({ name, arguments: input })
    return (result.structuredContent ?? result._meta?.['wardspace/failure']) as Record<string, unknown>
  }
  /** Returns how often the server has sent a notification. */
  const count = (method: string) => sent.filter((message) => 'method' in message && message.method === method).length
  return { workspace, client, server, sent, call, count, transport: here, serverTransport: there }
}

/** Waits until messages have arrived, which takes a few turns of the event loop in memory. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}
