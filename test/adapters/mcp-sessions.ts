import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { expect } from 'vitest'
import { createMcpServer } from '../../src/adapters/mcp/index.ts'
import { mcpHandler } from '../../src/adapters/mcp-http/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace } from '../../src/index.ts'

/** Connects the maximum number of clients to the same files, and checks that their reads and approvals are separate. */
export async function manySessions(count: number): Promise<void> {
  const workspace = await createWorkspace({
    backend: memory({ 'a.txt': 'one\n' }),
    policy: { preset: 'autonomous', rules: [{ name: 'gone', action: 'ask', tools: ['delete_file'] }] },
  })
  const runs: string[] = []
  const handler = mcpHandler({
    maxSessions: count,
    open() {
      const run = workspace.run({ actor: 'mcp' })
      runs.push(run.id)
      return { server: createMcpServer(workspace, { run }), close: () => run.close() }
    },
  })
  async function connect(): Promise<Client> {
    const client = new Client({ name: 'one of many', version: '1.0.0' })
    const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), {
      fetch: (address, init) => handler.fetch(new Request(address, init)),
    })
    await client.connect(transport)
    return client
  }
  const clients: Client[] = []
  // Connects one after another, so that the runs are in the order of the clients.
  for (let i = 0; i < count; i++) clients.push(await connect())
  await expect(connect()).rejects.toThrow('No more sessions')

  async function call(client: Client, name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
    const result = await client.callTool({ name, arguments: input })
    return (result.structuredContent ?? result._meta?.['wardspace/failure']) as Record<string, unknown>
  }
  const inAll = (work: (client: Client, at: number) => Promise<void>) => Promise.all(clients.map(work))

  await inAll(async (client, at) => {
    expect(await call(client, 'write_file', { path: `${at}.txt`, content: `${at}\n` })).toMatchObject({ ok: true })
    if (at % 2 === 0) await call(client, 'read_file', { path: 'a.txt' })
  })
  await inAll(async (client, at) => {
    const neighbour = `${(at + 1) % count}.txt`
    expect(await call(client, 'write_file', { path: neighbour, content: 'x' })).toMatchObject({
      code: 'WRITE_CONFLICT',
    })
    const replaced = await call(client, 'write_file', { path: 'a.txt', content: 'one\n' })
    expect([at, replaced.code]).toEqual([at, at % 2 === 0 ? undefined : 'WRITE_CONFLICT'])
    expect(await call(client, 'delete_file', { path: `${at}.txt` })).toMatchObject({ code: 'APPROVAL_REQUIRED' })
  })
  for (const [at, id] of runs.entries()) {
    const own = workspace.auditRecords().filter(({ runId }) => runId === id)
    const writtenPaths = new Set(
      own.filter(({ phase }) => phase === 'outcome').flatMap(({ pathsWritten }) => pathsWritten),
    )
    expect(writtenPaths).toEqual(new Set(at % 2 === 0 ? [`${at}.txt`, 'a.txt'] : [`${at}.txt`]))
  }
  expect(new Set(runs).size).toBe(count)
  await Promise.all(clients.map((client) => client.close()))
  await handler.close()
  await workspace.close()
}
