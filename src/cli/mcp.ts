import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpServer } from '../adapters/mcp.ts'
import { openWorkspace, parseOptions } from './options.ts'

/** `wardspace mcp`: serves the tools over stdio until the client goes. */
export async function mcp(words: string[]): Promise<number> {
  const { values } = parseOptions(words, 0)
  const workspace = await openWorkspace(values, { run: { actor: 'mcp' } })
  const server = createMcpServer(workspace)
  const ended = new Promise<void>((resolve) => {
    server.onclose = resolve
    process.stdin.once('end', resolve)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await server.connect(new StdioServerTransport())
  await ended
  await server.close()
  await workspace.close()
  return 0
}
