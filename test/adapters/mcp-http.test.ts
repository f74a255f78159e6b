import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, ElicitRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterEach, describe, expect, it } from 'vitest'
import { createMcpServer } from '../../src/adapters/mcp/index.ts'
import { createEventStore } from '../../src/adapters/mcp-http/event-store.ts'
import { type McpHandler, type McpHandlerOptions, mcpHandler } from '../../src/adapters/mcp-http/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { createWorkspace, type Workspace, type WorkspaceOptions } from '../../src/index.ts'
import { bash } from '../../src/shells/bash/index.ts'
import type { Shell } from '../../src/shells/types.ts'
import { manySessions } from './mcp-sessions.ts'

const url = 'http://127.0.0.1:8080/mcp'
const token = 'a-token-of-the-tests'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

interface Served {
  readonly workspace: Workspace
  readonly handler: McpHandler
  /** The runs of the sessions, in the order in which they were opened. */
  readonly runs: string[]
}

async function serve(
  options: Partial<McpHandlerOptions> = {},
  workspaceOptions: Partial<WorkspaceOptions> = {},
): Promise<Served> {
  const backend = memory({ 'a.txt': 'one\n', '.env': 'PASSWORD=hunter2\n' })
  const workspace = await createWorkspace({ backend, policy: 'autonomous', ...workspaceOptions })
  const runs: string[] = []
  const handler = mcpHandler({
    open() {
      const run = workspace.run({ actor: 'mcp' })
      runs.push(run.id)
      return { server: createMcpServer(workspace, { run }), close: () => run.close() }
    },
    ...options,
  })
  ends.push(
    () => handler.close(),
    () => workspace.close(),
  )
  return { workspace, handler, runs }
}

async function connect(handler: McpHandler, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(transportTo(handler, headers))
  ends.push(() => client.close())
  return client
}

function transportTo(handler: McpHandler, headers: Record<string, string> = {}): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url), {
    fetch: (address, init) => fetchFrom(handler, address, init),
    requestInit: { headers },
  })
}

/** Sends a request. As over a network, an aborted request stops reading the response. */
async function fetchFrom(handler: McpHandler, address: string | URL, init: RequestInit = {}): Promise<Response> {
  const response = await handler.fetch(new Request(address, init))
  const { signal } = init
  if (response.body === null || !signal) return response
  return new Response(response.body.pipeThrough(new TransformStream(), { signal }), response)
}

/** Returns a shell with the number of its running commands. */
function counted(): { readonly shell: Shell; readonly running: () => number } {
  const shell = bash()
  let running = 0
  return {
    running: () => running,
    shell: {
      ...shell,
      run(command) {
        running += 1
        return shell.run(command).finally(() => {
          running -= 1
        })
      },
    },
  }
}

const json = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
}

interface Asked {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

function ask(handler: McpHandler, { method = 'POST', headers = {}, body }: Asked = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const own = method === 'POST' ? json : { Accept: 'text/event-stream' }
  return handler.fetch(
    new Request(url, { method, headers: { ...own, ...headers }, ...(body === undefined ? {} : { body: text }) }),
  )
}

async function begin(handler: McpHandler): Promise<Record<string, string>> {
  const response = await ask(handler, { body: initialize })
  expect(response.status).toBe(200)
  await response.text()
  return { 'Mcp-Session-Id': response.headers.get('mcp-session-id') as string }
}

async function refusalOf(response: Response): Promise<{ status: number; message: string; hint: string }> {
  const { jsonrpc, id, error } = (await response.json()) as {
    jsonrpc: string
    id: null
    error: { code: number; message: string; data: { hint: string } }
  }
  expect({ jsonrpc, id }).toEqual({ jsonrpc: '2.0', id: null })
  return { status: response.status, message: error.message, hint: error.data.hint }
}

async function call(client: Client, name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name, arguments: input })
  return (result.structuredContent ?? result._meta?.['wardspace/failure']) as Record<string, unknown>
}

describe('mcpHandler with the official client', () => {
  it('serves tool lists, calls, refusals and the end of a session', async () => {
    const { handler } = await serve({ token })
    const client = await connect(handler, { Authorization: `Bearer ${token}` })
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('edit_file')
    expect(await call(client, 'read_file', { path: 'a.txt' })).toMatchObject({ ok: true, content: 'one\n' })
    expect(await call(client, 'read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(handler.size).toBe(1)
    await (client.transport as StreamableHTTPClientTransport).terminateSession()
    expect(handler.size).toBe(0)
  })
})

describe('mcpHandler sessions', () => {
  it('have separate runs with separate read history, records and approvals', async () => {
    await manySessions(20)
  })

  it('do not share current directory, background commands or artifacts', async () => {
    const { handler } = await serve({}, { shell: bash(), keepCwd: true, limits: { commandOutputBytes: 2000 } })
    const [one, two] = [await connect(handler), await connect(handler)]
    await call(one, 'create_directory', { path: 'sub' })
    expect(await call(one, 'run_command', { command: 'cd sub' })).toMatchObject({ cwd: 'sub' })
    expect(await call(two, 'run_command', { command: 'pwd' })).toMatchObject({ stdout: '/workspace\n' })
    await call(one, 'start_command', { command: 'sleep 600' })
    expect(await call(two, 'check_command', { id: 'process-1' })).toMatchObject({ code: 'NOT_FOUND' })
    const { artifactUri } = await call(one, 'write_file', { path: 'b.txt', content: 'mine\n' })
    expect(await call(one, 'read_file', { path: artifactUri })).toMatchObject({ ok: true })
    expect(await call(two, 'read_file', { path: artifactUri })).toMatchObject({ ok: false })
  })

  it('end their background commands on DELETE, when idle, and with the handler', async () => {
    const { shell, running } = counted()
    const { handler } = await serve({ idleMs: 30 }, { shell })
    const client = await connect(handler)
    await call(client, 'start_command', { command: 'sleep 600' })
    await (client.transport as StreamableHTTPClientTransport).terminateSession()
    expect([handler.size, running()]).toEqual([0, 0])

    // Only its open stream keeps this session from being idle.
    const waiting = await connect(handler)
    await call(waiting, 'start_command', { command: 'sleep 600' })
    const resting = await begin(handler)
    await expect.poll(async () => (await ask(handler, { body: ping, headers: resting })).status).toBe(404)
    expect(handler.size).toBe(1)
    await waiting.close()
    await expect.poll(() => [handler.size, running()]).toEqual([0, 0])

    const last = await connect(handler)
    await call(last, 'start_command', { command: 'sleep 600' })
    await handler.close()
    expect([handler.size, running()]).toEqual([0, 0])
    expect((await ask(handler, { body: initialize })).status).toBe(503)
  })

  it('cancel their calls on request and on close, so that they change nothing', async () => {
    const { shell, running } = counted()
    const { workspace, handler } = await serve({}, { shell })
    const client = await connect(handler)
    const cancel = new AbortController()
    const slow = client.callTool(
      { name: 'run_command', arguments: { command: 'echo x > x.txt; touch started; sleep 600' } },
      undefined,
      { signal: cancel.signal },
    )
    await expect.poll(running).toBe(1)
    cancel.abort('no longer wanted')
    await expect(slow).rejects.toThrow('no longer wanted')
    await expect.poll(running).toBe(0)
    const another = await connect(handler)
    const ended = another.callTool({ name: 'run_command', arguments: { command: 'echo y > y.txt; sleep 600' } })
    const lost = ended.catch((error: Error) => error.message)
    await expect.poll(running).toBe(1)
    await handler.close()
    await expect.poll(running).toBe(0)
    expect(await workspace.call('find_files', { pattern: '*.txt' })).toMatchObject({ files: ['a.txt'] })
    await another.close()
    expect(await lost).toMatch(/closed/)
  })

  it('fail to open if open throws or its server is in use, and hide the cause from the client', async () => {
    const errors: unknown[] = []
    const reported = { onError: (error: unknown) => errors.push(error) }
    const failing = await serve({
      ...reported,
      open() {
        throw new RangeError('/home/me/secret')
      },
    })
    const response = await ask(failing.handler, { body: initialize })
    expect(await refusalOf(response)).toEqual({
      status: 500,
      message: 'The session could not be opened',
      hint: expect.any(String),
    })
    let closed = 0
    const shared = new Server({ name: 'shared', version: '1' })
    const { handler } = await serve({
      ...reported,
      open: () => ({
        server: shared,
        close() {
          closed += 1
          throw new Error('not even that')
        },
      }),
    })
    await begin(handler)
    expect((await ask(handler, { body: initialize })).status).toBe(500)
    expect(handler.size).toBe(1)
    await handler.close()
    expect([failing.handler.size, closed]).toEqual([0, 2])
    const silent = await serve({
      open() {
        throw new Error('to nobody')
      },
    })
    expect((await ask(silent.handler, { body: initialize })).status).toBe(500)
    expect(errors.map((error) => (error as Error).message)).toEqual([
      '/home/me/secret',
      expect.stringContaining('connected'),
      'not even that',
      'not even that',
    ])
  })
})

describe('mcpHandler elicitation', () => {
  it.each<[string, Record<string, string | number>, string | undefined]>([
    ['an answer', { decision: 'allow once' }, undefined],
    ['an answer with a reason', { decision: 'deny', reason: 'not now' }, 'APPROVAL_DENIED'],
    ['an option that was not offered', { decision: 'allow everything' }, 'HOOK_FAILED'],
    ['a number', { decision: 1 }, 'HOOK_FAILED'],
    ['no decision', { reason: 'why' }, 'HOOK_FAILED'],
  ])('asks on the response stream of the call and handles the answer: %s', async (_, content, code) => {
    const { handler } = await serve({}, { policy: 'supervised' })
    const client = new Client({ name: 'person', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content }))
    await client.connect(transportTo(handler))
    ends.push(() => client.close())
    const result = await call(client, 'write_file', { path: 'b.txt', content: 'b\n' })
    expect(result.code).toBe(code)
  })
})

describe('mcpHandler with an invalid request', () => {
  it.each<[string, number, Asked, string]>([
    ['another method', 405, { method: 'PUT', body: {} }, 'GET, POST, DELETE'],
    ['no session', 400, { body: { jsonrpc: '2.0', id: 1, method: 'tools/list' } }, 'initialize first'],
    ['no session to listen to', 400, { method: 'GET' }, 'initialize first'],
    ['no session to end', 400, { method: 'DELETE' }, 'initialize first'],
    ['an unknown session', 404, { body: initialize, headers: { 'Mcp-Session-Id': 'made-up' } }, 'initialize again'],
    ['no JSON', 400, { body: '{"jsonrpc"' }, 'JSON-RPC 2.0'],
    ['no JSON-RPC', 400, { body: { hello: 'there' } }, 'JSON-RPC 2.0'],
    ['deep nesting', 400, { body: '['.repeat(60_000) }, 'JSON-RPC 2.0'],
    ['another content type', 415, { body: initialize, headers: { 'Content-Type': 'text/plain' } }, 'application/json'],
    [
      'a content type that a page may send',
      415,
      { body: initialize, headers: { 'Content-Type': 'text/plain; application/json' } },
      'application/json',
    ],
    [
      'an Accept header without events',
      406,
      { body: initialize, headers: { Accept: 'application/json' } },
      'text/event-stream',
    ],
    ['two beginnings', 400, { body: [initialize, { ...initialize, id: 2 }] }, 'alone'],
    [
      'too many messages',
      400,
      { body: Array.from({ length: 101 }, (_, id) => ({ ...initialize, id })) },
      'at most 100',
    ],
    ['too large', 413, { body: { ...initialize, more: 'x'.repeat(70_000) } }, 'Send less per request'],
    ['a body of blanks that is too large', 413, { body: ' '.repeat(70_000) }, 'Send less per request'],
  ])('refuses %s with status %i', async (_, status, request, hint) => {
    const { handler } = await serve({ maxBodyBytes: 65_536 })
    const refused = await refusalOf(await ask(handler, request))
    expect(refused).toMatchObject({ status, hint: expect.stringContaining(hint) })
    expect(handler.size).toBe(0)
  })

  it('is refused in a session, which stays open', async () => {
    const { handler } = await serve()
    const session = await begin(handler)
    const stream = await ask(handler, { method: 'GET', headers: session })
    expect(stream.status).toBe(200)
    for (const [status, question, hint] of [
      [409, { method: 'GET' }, 'already open'],
      [406, { method: 'GET', headers: { Accept: 'text/html' } }, 'text/event-stream'],
      [400, { body: initialize }, 'initialize once'],
      [400, { body: ping, headers: { 'MCP-Protocol-Version': '1999-01-01' } }, 'MCP-Protocol-Version'],
      [400, { method: 'DELETE', headers: { 'MCP-Protocol-Version': '1999-01-01' } }, 'MCP-Protocol-Version'],
      [400, { method: 'GET', headers: { 'Last-Event-ID': 'made-up.7' } }, 'without Last-Event-ID'],
      [400, { method: 'GET', headers: { 'Last-Event-ID': '7' } }, 'without Last-Event-ID'],
    ] as [number, Asked, string][]) {
      const refused = await ask(handler, { ...question, headers: { ...session, ...question.headers } })
      expect(await refusalOf(refused)).toMatchObject({ status, hint: expect.stringContaining(hint) })
    }
    const answer = await ask(handler, { body: ping, headers: session })
    expect(await answer.text()).toContain('"result":{}')
    await stream.body?.cancel()
  })

  it('answers deeply nested JSON with an error and keeps the session', async () => {
    const { handler } = await serve()
    const session = await begin(handler)
    const deep = `${'{"path":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    const body = `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_file","arguments":${deep}}}`
    const answer = await ask(handler, { body, headers: session })
    expect(await answer.text()).toMatch(/INVALID_INPUT|error/)
    expect(await (await ask(handler, { body: ping, headers: session })).text()).toContain('"result":{}')
  })
})

describe('mcpHandler admission', () => {
  it.each<[string, string, Partial<McpHandlerOptions>, boolean]>([
    ['the loopback address', '127.0.0.1:8080', {}, true],
    ['its name in any case', 'LocalHost:9', {}, true],
    ['its other form', '[::1]:8080', {}, true],
    ['a name that resolves to it', 'evil.example:8080', {}, false],
    ['a name with the same start', 'localhost.evil.example', {}, false],
    ['a name with the same end', 'evil.example#127.0.0.1', {}, false],
    ['credentials before it', 'localhost@evil.example', {}, false],
    ['nothing', '', {}, false],
    ['another port', '127.0.0.1:81', { allowedHosts: ['127.0.0.1:80'] }, false],
    ['the default port', '127.0.0.1', { allowedHosts: ['127.0.0.1:80'] }, true],
    ['the loopback address if another host is allowed', 'localhost', { allowedHosts: ['tools.example'] }, false],
    ['the allowed host', 'tools.example', { allowedHosts: ['tools.example'] }, true],
  ])('checks Host: %s', async (_, host, options, isLetIn) => {
    const { handler } = await serve(options)
    const response = await ask(handler, { body: initialize, headers: { Host: host } })
    expect(response.status).toBe(isLetIn ? 200 : 403)
    if (!isLetIn) expect(await refusalOf(response)).toMatchObject({ message: expect.stringContaining('not served') })
  })

  it('checks the default port of https, and the URL if there is no Host', async () => {
    const { handler } = await serve({ allowedHosts: ['tools.example:443'] })
    for (const [address, status] of [
      ['https://tools.example/mcp', 400],
      ['http://tools.example/mcp', 403],
    ] as const) {
      expect((await handler.fetch(new Request(address))).status).toBe(status)
    }
  })

  it.each<[string, string | undefined, number]>([
    ['no page', undefined, 200],
    ['a page of the same origin', 'http://127.0.0.1:8080', 200],
    ['an allowed page', 'https://app.example', 200],
    ['any other page', 'https://evil.example', 403],
    ['a page on another port', 'http://127.0.0.1:3000', 403],
    ['a page whose origin has the same start', 'https://app.example.evil.example', 403],
    ['a page without an origin', 'null', 403],
  ])('checks Origin: %s', async (_, origin, status) => {
    const { handler } = await serve({ allowedOrigins: ['https://app.example'], token })
    const headers = { Authorization: `Bearer ${token}`, ...(origin === undefined ? {} : { Origin: origin }) }
    const response = await ask(handler, { body: initialize, headers })
    expect(response.status).toBe(status)
    const isShown = origin === 'https://app.example'
    expect(response.headers.get('access-control-allow-origin')).toBe(isShown ? origin : null)
    // A browser's preflight request has no token.
    const preflight = await ask(handler, {
      method: 'OPTIONS',
      headers: { 'Access-Control-Request-Method': 'POST', ...(origin === undefined ? {} : { Origin: origin }) },
    })
    expect(preflight.status).toBe(isShown ? 204 : status === 403 ? 403 : 405)
    if (isShown) expect(preflight.headers.get('access-control-allow-headers')).toContain('Mcp-Session-Id')
  })

  it.each([
    [undefined, 'Bearer'],
    ['Bearer wrong', 'Bearer error="invalid_token"'],
    [`Bearer ${token}x`, 'Bearer error="invalid_token"'],
    [`Bearer ${token.slice(1)}`, 'Bearer error="invalid_token"'],
    [`Basic ${token}`, 'Bearer error="invalid_token"'],
    ['Bearer', 'Bearer error="invalid_token"'],
  ])('refuses the Authorization header %s', async (authorization, challenge) => {
    const { handler } = await serve({ token })
    const headers = authorization === undefined ? {} : { Authorization: authorization }
    // The same holds in an existing session.
    const session = await ask(handler, { body: initialize, headers: { Authorization: `bearer ${token}` } })
    await session.text()
    const id = session.headers.get('mcp-session-id') as string
    for (const asked of [{ body: initialize }, { body: ping }, { method: 'GET' }, { method: 'DELETE' }]) {
      const response = await ask(handler, { ...asked, headers: { ...headers, 'Mcp-Session-Id': id } })
      expect(response.headers.get('www-authenticate')).toBe(challenge)
      expect(await refusalOf(response)).toMatchObject({ status: 401 })
    }
    expect(handler.size).toBe(1)
  })

  it.each<[string, Partial<McpHandlerOptions>]>([
    ['a token that is short', { token: 'short' }],
    ['a token that cannot be sent', { token: 'a token with blanks' }],
    ['a host with a path', { allowedHosts: ['localhost/mcp'] }],
    ['an address instead of a host', { allowedHosts: ['http://localhost'] }],
    ['an origin with a path', { allowedOrigins: ['https://app.example/'] }],
    ['every origin', { allowedOrigins: ['*'] }],
    ['no origin', { allowedOrigins: ['null'] }],
    ['an origin that no page can have', { allowedOrigins: ['data:text/html,x'] }],
    ['zero sessions', { maxSessions: 0 }],
    ['a fractional number of sessions', { maxSessions: 1.5 }],
    ['no rest', { idleMs: 0 }],
    ['no body', { maxBodyBytes: Number.NaN }],
  ])('throws TypeError for %s', async (_, options) => {
    expect(() => mcpHandler({ open: () => ({ server: new Server({ name: 'x', version: '1' }) }), ...options })).toThrow(
      TypeError,
    )
  })
})

describe('mcpHandler after a lost connection', () => {
  /** Starts a server that sends a notification and answers a call when `open` is called. */
  async function slow(options: Partial<McpHandlerOptions> = {}) {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const { handler } = await serve({
      open() {
        const server = new Server({ name: 'slow', version: '1' }, { capabilities: { tools: {}, logging: {} } })
        server.setRequestHandler(ListToolsRequestSchema, async () => {
          for (let i = 0; i < 5; i++) await server.sendLoggingMessage({ level: 'info', data: 'x'.repeat(100) })
          return { tools: [] }
        })
        server.setRequestHandler(CallToolRequestSchema, async (_, { sendNotification }) => {
          await sendNotification({ method: 'notifications/message', params: { level: 'info', data: 'begins' } })
          await gate
          return { content: [{ type: 'text', text: 'the answer' }] }
        })
        return { server }
      },
      ...options,
    })
    const first = await ask(handler, {
      body: { ...initialize, params: { ...initialize.params, protocolVersion: '2025-11-25' } },
    })
    await first.text()
    const session = {
      'Mcp-Session-Id': first.headers.get('mcp-session-id') as string,
      'MCP-Protocol-Version': '2025-11-25',
    }
    return { handler, session, open }
  }

  const toCall = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'x', arguments: {} } }

  it('replays missed events and the missed answer', async () => {
    const { handler, session, open } = await slow()
    const broken = (await ask(handler, { body: toCall, headers: session })).body?.getReader()
    const { ids: seen } = await readEvents(broken, 2)
    await broken?.cancel()
    open()
    // It resumes after the first event, so the second one is sent again.
    const resumed = await ask(handler, { method: 'GET', headers: { ...session, 'Last-Event-ID': seen[0] as string } })
    const reader = resumed.body?.getReader()
    const { ids, data } = await readEvents(reader, 2)
    expect(ids[0]).toBe(seen[1])
    expect(data[0]).toContain('begins')
    expect(data[1]).toContain('the answer')
    await reader?.cancel()
    // Another session cannot read the stream.
    const other = await begin(handler)
    const stolen = await ask(handler, { method: 'GET', headers: { ...other, 'Last-Event-ID': seen[0] as string } })
    expect(stolen.status).toBe(400)
  })

  it('is resumed by the official client', async () => {
    const { handler } = await serve()
    const cut = new Set<() => void>()
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      reconnectionOptions: {
        initialReconnectionDelay: 1,
        maxReconnectionDelay: 1,
        reconnectionDelayGrowFactor: 1,
        maxRetries: 5,
      },
      async fetch(address, init) {
        const response = await handler.fetch(new Request(address, init))
        const isCall = typeof init?.body === 'string' && init.body.includes('tools/call')
        if (!isCall || response.body === null) return response
        // The connection ends after the first event.
        const reader = response.body.getReader()
        const { value } = await reader.read()
        const stream = new ReadableStream({
          async start(controller) {
            controller.enqueue(value)
            cut.add(() => {
              void reader.cancel()
              controller.error(new Error('broken'))
            })
          },
        })
        setTimeout(() => cut.forEach((end) => void end()))
        return new Response(stream, { headers: response.headers })
      },
    })
    const client = new Client({ name: 'test', version: '1.0.0' })
    await client.connect(transport)
    ends.push(() => client.close())
    expect(await call(client, 'read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
    expect(cut.size).toBe(1)
  })

  it('refuses to resume if missed events were dropped, and resumes if nothing was missed', async () => {
    const { handler, session, open } = await slow({ maxEvents: 3 })
    const broken = (await ask(handler, { body: toCall, headers: session })).body?.getReader()
    const { ids: seen } = await readEvents(broken, 2)
    await broken?.cancel()
    const list = { jsonrpc: '2.0', id: 3, method: 'tools/list' }
    await (await ask(handler, { body: list, headers: session })).text()
    // Both events of the stream were dropped, but none after the second.
    const lost = await ask(handler, { method: 'GET', headers: { ...session, 'Last-Event-ID': seen[0] as string } })
    expect(await refusalOf(lost)).toMatchObject({ status: 400, hint: expect.stringContaining('no longer stored') })
    const stream = await ask(handler, { method: 'GET', headers: { ...session, 'Last-Event-ID': seen[1] as string } })
    expect(stream.status).toBe(200)
    const ahead = `${(seen[1] as string).split('.')[0]}.99`
    expect((await ask(handler, { method: 'GET', headers: { ...session, 'Last-Event-ID': ahead } })).status).toBe(400)
    open()
    const reader = stream.body?.getReader()
    expect((await readEvents(reader, 1)).data[0]).toContain('the answer')
    await reader?.cancel()
  })

  it('delivers events from before the first stream exactly once', async () => {
    const server = new Server({ name: 'early', version: '1' }, { capabilities: { logging: {} } })
    const { handler } = await serve({ open: () => ({ server }) })
    const session = await begin(handler)
    await server.sendLoggingMessage({ level: 'info', data: 'early' })
    const first = (await ask(handler, { method: 'GET', headers: session })).body?.getReader()
    expect((await readEvents(first, 1)).data[0]).toContain('early')
    await first?.cancel()
    const second = (await ask(handler, { method: 'GET', headers: session })).body?.getReader()
    await server.sendLoggingMessage({ level: 'info', data: 'later' })
    expect((await readEvents(second, 1)).data[0]).toContain('later')
    await second?.cancel()
  })

  it('forgets the oldest of more than 1,000 streams of unanswered calls', async () => {
    const events = createEventStore(1, 1000)
    const message = { jsonrpc: '2.0', method: 'notifications/message' } as const
    const [oldest, newest] = [await events.storeEvent('0', message), await events.storeEvent('1', message)]
    expect(await events.getStreamIdForEventId(oldest)).toBe('0')
    for (let i = 2; i < 1010; i++) await events.storeEvent(String(i), message)
    expect([await events.getStreamIdForEventId(oldest), await events.getStreamIdForEventId(newest)]).toEqual([
      undefined,
      undefined,
    ])
    expect(await events.getStreamIdForEventId('1008.1009')).toBe('1008')
  })

  it('closes the stream of a client that does not read', async () => {
    const server = new Server({ name: 'loud', version: '1' }, { capabilities: { logging: {} } })
    const { handler } = await serve({ open: () => ({ server }) })
    const session = await begin(handler)
    const stream = await ask(handler, { method: 'GET', headers: session })
    for (let i = 0; i < 20; i++) await server.sendLoggingMessage({ level: 'info', data: 'x'.repeat(1024 * 1024) })
    let bytes = 0
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) bytes += chunk.byteLength
    expect(bytes).toBeGreaterThan(15 * 1024 * 1024)
    expect(bytes).toBeLessThan(18 * 1024 * 1024)
    expect((await ask(handler, { method: 'GET', headers: session })).status).toBe(200)
  })
})

const ping = { jsonrpc: '2.0', id: 9, method: 'ping' }

/** Reads a number of events of a stream, and no more. */
async function readEvents(reader: ReadableStreamDefaultReader<Uint8Array> | undefined, count: number) {
  let text = ''
  while (reader !== undefined && text.split('\n\n').length <= count) {
    const { done, value } = await reader.read()
    if (done) break
    text += new TextDecoder().decode(value)
  }
  return {
    ids: [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id),
    data: [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data),
  }
}
