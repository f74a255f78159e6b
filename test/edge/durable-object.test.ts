import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DurableStorage, durableObject } from '../../src/backends/durable-object/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import { startWorker, subjectBindings } from './workerd.ts'

let workerd: Miniflare

beforeAll(async () => {
  workerd = await startWorker('worker.ts', subjectBindings)
})
afterAll(() => workerd.dispose())

async function get(path: string): Promise<unknown> {
  return (await workerd.dispatchFetch(`http://edge${path}`)).json()
}

describe('durableObject in workerd', () => {
  it('stores a large file in parts, reads ranges of it, and moves it without a rewrite', async () => {
    expect(await get('/large')).toEqual({
      isSmallRight: true,
      takenBySmall: 2 * 256 * 1024,
      isWholeRight: true,
      parts: 35,
      partsWhenMoved: 35,
      partsAtLast: 0,
    })
  })

  it('never interleaves commits, with waits and with two backends on one storage', async () => {
    expect(await get('/at-once')).toEqual({ winners: 20, torn: 0 })
  })

  it('changes nothing if any statement fails, and does not expose the message of the database', async () => {
    const { failures, ...rest } = (await get('/full')) as { failures: number }
    expect(rest).toEqual({ codes: ['BACKEND_ERROR', 'NO_SPACE'], isUnchanged: true, isChangedAtLast: true })
    expect(failures).toBeGreaterThan(8)
  })

  it('serves MCP over HTTP: a session with calls, refusals and questions to the user', async () => {
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

it('durableObject refuses a storage without SQLite', () => {
  for (const storage of [undefined, {}, { get() {}, put() {} }]) {
    expect(() => durableObject(storage as unknown as DurableStorage)).toThrow(TypeError)
  }
})

describe('durableObject database', () => {
  /** A fake storage that answers statements by their beginning. */
  const answering = (answers: Record<string, readonly object[] | (() => never)>): DurableStorage => ({
    sql: {
      exec(query) {
        const matches = Object.entries(answers).find(([start]) => query.startsWith(start))?.[1]
        if (typeof matches === 'function') matches()
        return { toArray: () => [...((matches as [] | undefined) ?? [])] }
      },
    },
    transactionSync: (closure) => closure(),
  })
  const state = { 'SELECT format': [{ format: 1, next: 1 }] }
  const row = {
    parent: '/',
    name: '/a',
    type: 'file',
    tag: 1,
    at: 0,
    mode: 0o644,
    size: 3,
    sha256: 'a'.repeat(64),
    content: 1,
    target: null,
  }

  it('is refused if a newer version wrote it', () => {
    expect(() => durableObject(answering({ 'SELECT format': [{ format: 2, next: 1 }] }))).toThrow(
      new TypeError('durableObject(): the storage has format 2; this version knows 1'),
    )
  })

  it('is reported as failing if content is missing, instead of returning other bytes', async () => {
    for (const damage of [{ sha256: null }, { type: 'link' }]) {
      const rows = { "SELECT '/' || parent": [{ ...row, ...damage }] }
      const backend = durableObject(answering({ ...state, ...rows }))
      expect(await backend.stat('a' as Path)).toMatchObject({ type: 'other' })
      await expect(backend.read('a' as Path)).rejects.toMatchObject({
        code: 'BACKEND_ERROR',
        message: 'Cannot read "a": the storage is damaged there',
      })
    }
    const part = (length: number) => [{ id: 65_536, bytes: new ArrayBuffer(length) }]
    for (const [size, parts] of [
      [3, []],
      [3, part(2)],
      [300_000, part(262_143)],
      [300_000, []],
    ] as const) {
      const backend = durableObject(
        answering({ ...state, "SELECT '/' || parent": [{ ...row, size }], 'SELECT id, bytes': parts }),
      )
      await expect(backend.read('a' as Path)).rejects.toMatchObject({
        code: 'BACKEND_ERROR',
        message: 'Cannot read "a": the storage is damaged there',
      })
    }
  })

  it('exposes only the code of its failures', async () => {
    for (const [thrown, code, message] of [
      [new Error('UNIQUE failed: "secret": SQLITE_CONSTRAINT'), 'BACKEND_ERROR', 'failed (SQLITE_CONSTRAINT)'],
      [new Error('no idea'), 'BACKEND_ERROR', 'failed (unknown)'],
      ['no error at all', 'BACKEND_ERROR', 'failed (unknown)'],
      [new Error('the disk is full'), 'NO_SPACE', 'is full'],
    ] as const) {
      let fails = false
      const { sql } = answering(state)
      const backend = durableObject({
        sql,
        transactionSync(closure) {
          // Fails when the transaction is committed.
          const result = closure()
          if (fails) throw thrown
          return result
        },
      })
      fails = true
      const refused = backend.commit([], { durability: 'durable' })
      await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(message) })
    }
  })
})
