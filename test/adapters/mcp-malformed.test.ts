import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createMcpServer } from '../../src/adapters/mcp/index.ts'
import { mcpHandler } from '../../src/adapters/mcp-http/index.ts'
import { memory } from '../../src/backends/memory/index.ts'
import { type Host, mcp } from '../../src/cli/mcp.ts'
import { createWorkspace } from '../../src/index.ts'

const initialize = {
  ...{ jsonrpc: '2.0', id: 'init', method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const request = (fields: object) => ({ jsonrpc: '2.0', id: 7, ...fields })
const call = (params: unknown) => request({ method: 'tools/call', params })

/** Messages that are not valid, with the code, the id and a word of the answer. */
const malformed: readonly (readonly [message: unknown, code: number, id: unknown, word: string])[] = [
  ...['not json', '{"jsonrpc":"2.0"', '{]'].map((line) => [line, -32700, null, 'JSON'] as const),
  ...[5, 'text', true, null].map((message) => [message, -32600, null, 'object'] as const),
  [[], -32600, null, 'list'],
  [[request({ method: 'ping' })], -32600, null, 'list'],
  [{}, -32600, null, 'jsonrpc'],
  [{ id: 7, method: 'ping' }, -32600, 7, 'jsonrpc'],
  ...['1.0', 2, null].map((jsonrpc) => [{ jsonrpc, id: 7, method: 'ping' }, -32600, 7, 'jsonrpc'] as const),
  ...[null, 1.5, {}, [], true].map((id) => [{ jsonrpc: '2.0', id, method: 'ping' }, -32600, null, '"id"'] as const),
  ...[5, null, {}, undefined].map((method) => [request({ method }), -32600, 7, 'method'] as const),
  [request({ metod: 'ping' }), -32600, 7, 'metod'],
  [request({ method: 'ping', extra: 1 }), -32600, 7, '"extra"'],
  [request({ method: 'ping', parms: {} }), -32600, 7, 'did you mean "params"?'],
  ...['tools/call', 'tools/list', 'ping', 'resources/read', 'logging/setLevel', 'nope'].flatMap((method) =>
    [null, [], 'x', 5].map((params) => [request({ method, params }), -32602, 7, 'params'] as const),
  ),
  ...['tools/list', 'ping'].map((method) => [request({ method, params: { _meta: 5 } }), -32602, 7, '_meta'] as const),
  [call({}), -32602, 7, '"name"'],
  [call({ name: 5 }), -32602, 7, '"name"'],
  [call({ nam: 'read_file' }), -32602, 7, 'did you mean "name"?'],
  [call({ name: 'read_file', argument: {} }), -32602, 7, 'did you mean "arguments"?'],
  [call({ name: 'read_file', input: {} }), -32602, 7, '"input"'],
  [call({ name: 'read_file', extra: 1 }), -32602, 7, '"extra"'],
  ...[[], null, 'x', 5].map(
    (value) => [call({ name: 'read_file', arguments: value }), -32602, 7, '"arguments"'] as const,
  ),
  ...[[], null, 'x', 5].map(
    (value) =>
      [request({ method: 'prompts/get', params: { name: 'x', arguments: value } }), -32602, 7, 'an object'] as const,
  ),
  ...['{"path":"a","__proto__":{"head":1}}', '{"__proto__":5}', '{"edits":[{"__proto__":{}}]}'].flatMap((text) =>
    ['tools/call', 'prompts/get'].map(
      (method) =>
        [request({ method, params: { name: 'x', arguments: JSON.parse(text) } }), -32602, 7, '__proto__"'] as const,
    ),
  ),
  [request({ method: 'ping', x: 1 }), -32600, 7, 'the fields are jsonrpc'],
  [request({ method: 'resources/read', params: {} }), -32602, 7, '"uri"'],
  [request({ method: 'resources/read', params: { uri: 5 } }), -32602, 7, '"uri"'],
  [request({ method: 'prompts/get', params: {} }), -32602, 7, '"name"'],
  ...['tools/list', 'prompts/list', 'resources/templates/list'].map(
    (method) => [request({ method, params: { cursor: 'x' } }), -32602, 7, 'ursor'] as const,
  ),
  [request({ method: 'nope' }), -32601, 7, 'not found'],
]

/** The line of a message. Texts that begin like JSON are lines that cannot be parsed. */
const lineOf = (message: unknown) =>
  typeof message === 'string' && /^[n{]/.test(message) ? message : JSON.stringify(message)

interface ErrorAnswer {
  readonly id: unknown
  readonly error: { readonly code: number; readonly message: string }
}

function expectAnswer(answer: unknown, [message, code, id, word]: (typeof malformed)[number]): void {
  const subject = JSON.stringify(message)
  expect(answer, subject).toMatchObject({ jsonrpc: '2.0', id, error: { code } })
  const { error } = answer as ErrorAnswer
  expect(error.message, subject).toContain(word)
  expect(error.message, subject).not.toMatch(/\[\s*\{/)
}

/** Serves this directory to a client of the command line. */
function serveStdio() {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const host = { stdin, stdout, stderr, env: {}, once: () => {} } as unknown as Host
  const ended = mcp(['--policy', 'autonomous', '--root', import.meta.dirname], host)
  return { stdin, stderr, answers: readLines(stdout), ended }
}

describe('requests that come together', () => {
  it('are answered in their order, except for one that a notification behind it cancels', async () => {
    const { stdin, answers, ended } = serveStdio()
    stdin.write(`${JSON.stringify(initialize)}\n`)
    await answers.next()
    const call = (id: number) => ({
      ...{ jsonrpc: '2.0', id, method: 'tools/call' },
      params: { name: 'read_file', arguments: { path: 'mcp-malformed.test.ts' } },
    })
    const ids = Array.from({ length: 20 }, (_, i) => i)
    for (const messages of [[call(100)], ids.map(call)]) {
      const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 200 } }
      const lines = [{ jsonrpc: '2.0', method: 'notifications/initialized' }, ...messages, call(200), cancelled]
      stdin.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      for (const { id } of messages as { id: number }[])
        expect(JSON.parse((await answers.next()).value as string)).toMatchObject({ id, result: { content: [{}] } })
    }
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 300, method: 'ping' })}\n`)
    expect(JSON.parse((await answers.next()).value as string)).toMatchObject({ id: 300 })
    stdin.end()
    expect(await ended).toBe(0)
  })
})

it('a connection that breaks ends the server like one that ends', async () => {
  const { stdin, answers, ended } = serveStdio()
  stdin.write(`${JSON.stringify(initialize)}\n`)
  await answers.next()
  stdin.destroy(new Error('read ECONNRESET'))
  expect(await ended).toBe(0)
})

describe('a malformed message', () => {
  it('is answered over stdio with the id, the code and the field', async () => {
    const { stdin, stderr, answers, ended } = serveStdio()
    const exchange = async (line: string) => {
      stdin.write(`${line}\n`)
      return JSON.parse((await answers.next()).value as string)
    }
    expect(await exchange(JSON.stringify(initialize))).toMatchObject({ id: 'init' })
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n\n`)
    for (const one of malformed) expectAnswer(await exchange(lineOf(one[0])), one)
    // A notification and a response have no answer, and the connection goes on.
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: 7 })}\n`)
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 9, result: 5 })}\n`)
    expect(await exchange(JSON.stringify(request({ method: 'ping' })))).toEqual({ jsonrpc: '2.0', id: 7, result: {} })
    expect(String(stderr.read())).toContain('notifications/cancelled')
    stdin.end()
    expect(await ended).toBe(0)
    console.log(`malformed messages answered: ${malformed.length}`)
  })

  it('is answered over HTTP in the same way', async () => {
    const workspace = await createWorkspace({ backend: memory({ 'a.txt': 'one\n' }), policy: 'autonomous' })
    const handler = mcpHandler({ open: () => ({ server: createMcpServer(workspace) }), token: 'correct-horse-battery' })
    const post = (body: string, session: object = {}) =>
      handler.fetch(
        new Request('http://localhost/mcp', {
          method: 'POST',
          headers: {
            ...{ authorization: 'Bearer correct-horse-battery', 'content-type': 'application/json' },
            ...{ accept: 'application/json, text/event-stream', host: 'localhost', ...session },
          },
          body,
        }),
      )
    const opened = await post(JSON.stringify(initialize))
    const session = { 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
    await opened.text()
    await post(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }), session)
    for (const one of malformed) {
      // A list of messages is valid over HTTP, if there is one in it.
      if (Array.isArray(one[0]) && one[0].length > 0) continue
      const response = await post(lineOf(one[0]), session)
      const text = await response.text()
      expectAnswer(JSON.parse(/^data: (\{.*)$/m.exec(text)?.[1] ?? text), one)
    }
    await handler.close()
  })
})

/** Reads lines as they come. */
async function* readLines(stream: PassThrough): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of stream) {
    const lines = (rest + String(chunk)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
