import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DurableStorage, durableObject } from '../../src/backends/durable-object.ts'
import { startWorker, subjectBindings } from './workerd.ts'

let workerd: Miniflare

beforeAll(async () => {
  workerd = await startWorker('worker.ts', subjectBindings)
})
afterAll(() => workerd.dispose())

async function get(path: string): Promise<unknown> {
  return (await workerd.dispatchFetch(`http://edge${path}`)).json()
}

describe('in a Durable Object', () => {
  it('a large file is stored in parts, read in ranges, moved without being written', async () => {
    expect(await get('/large')).toEqual({
      isSmallRight: true,
      takenBySmall: 2 * 256 * 1024,
      isWholeRight: true,
      parts: 35,
      partsWhenMoved: 35,
      partsAtLast: 0,
    })
  })

  it('commits never mix, over waits and over two backends on one storage', async () => {
    expect(await get('/at-once')).toEqual({ winners: 20, torn: 0 })
  })

  it('a database that fails at any statement leaves everything as it was, and is told without what it said', async () => {
    const { failures, ...rest } = (await get('/full')) as { failures: number }
    expect(rest).toEqual({ codes: ['BACKEND_ERROR', 'NO_SPACE'], isUnchanged: true, isChangedAtLast: true })
    expect(failures).toBeGreaterThan(8)
  })

  it('MCP is served over HTTP: a session with calls, refusals, and questions to the person', async () => {
    const client = new Client({ name: 'edge', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { decision: 'allow once' } }))
    const reach = (headers: Record<string, string>) =>
      new StreamableHTTPClientTransport(new URL('http://edge/mcp'), {
        requestInit: { headers },
        fetch: async (address, init) => {
          const { signal: _, ...rest } = init ?? {}
          return (await workerd.dispatchFetch(String(address), rest as never)) as unknown as Response
        },
      })
    expect((await workerd.dispatchFetch('http://edge/mcp')).status).toBe(401)
    const transport = reach({ Authorization: 'Bearer a-token-of-the-tests' })
    await client.connect(transport)
    const call = async (name: string, input: Record<string, unknown>) => {
      const result = await client.callTool({ name, arguments: input })
      return result.structuredContent ?? result._meta?.['wardspace/failure']
    }
    expect((await client.listTools()).tools.length).toBeGreaterThan(10)
    expect(await call('write_file', { path: 'a.txt', content: 'one\n' })).toMatchObject({ ok: true })
    expect(await call('read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
    expect(await call('read_file', { path: '../a.txt' })).toMatchObject({ code: 'PATH_REJECTED' })
    await transport.terminateSession()
    await expect(client.listTools()).rejects.toThrow('names no session')
    await client.close()
  })
})

it('a storage without SQLite is refused', () => {
  for (const storage of [undefined, {}, { get() {}, put() {} }]) {
    expect(() => durableObject(storage as unknown as DurableStorage)).toThrow(TypeError)
  }
})
