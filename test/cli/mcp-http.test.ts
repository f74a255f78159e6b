import { EventEmitter, once } from 'node:events'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, connect as openSocket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { verifyAuditFile } from '../../src/audit/jsonl-sink.ts'
import { listen } from '../../src/cli/listen.ts'
import { mcp } from '../../src/cli/mcp.ts'
import { oneRoot } from '../../src/cli/roots.ts'
import { inspect } from './inspector.ts'
import { main } from './run-cli.ts'
import { autonomous, withPolicy } from './with-policy.ts'

let home: string
let root: string
let state: string | undefined

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'wardspace-http-'))
  root = join(home, 'project')
  state = process.env.XDG_STATE_HOME
  process.env.XDG_STATE_HOME = join(home, 'state')
  await mkdir(root)
  await writeFile(join(root, 'a.txt'), 'one\n')
  await writeFile(join(root, '.env'), 'PASSWORD=hunter2\n')
})
afterAll(async () => {
  if (state === undefined) delete process.env.XDG_STATE_HOME
  else process.env.XDG_STATE_HOME = state
  await rm(home, { recursive: true, force: true })
})

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

/** Runs the command in this process, with its own streams and signals. */
function start(words: readonly string[], env: Record<string, string> = {}, names = autonomous(words)) {
  const host = Object.assign(new EventEmitter(), {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env,
  })
  const ended = mcp(names, host)
  ended.catch(() => {})
  ends.push(async () => {
    host.emit('SIGTERM')
    await ended.catch(() => {})
  })
  return { host, ended }
}

interface Serving {
  readonly url: string
  readonly token: string
  readonly host: EventEmitter
  readonly ended: Promise<number>
}

async function serve(words: readonly string[] = [], env: Record<string, string> = {}): Promise<Serving> {
  const { host, ended } = start(['--root', root, '--http', '0', '--json', ...words], env)
  const [line] = (await Promise.race([once(host.stdout, 'data'), ended.then(() => ['{}'])])) as [Buffer | string]
  const { url, token = env.WARDSPACE_TOKEN } = JSON.parse(String(line)) as { url: string; token: string }
  return { url, token: token as string, host, ended }
}

async function connect({ url, token }: Serving, client = new Client({ name: 'test', version: '1.0.0' })) {
  const requestInit = { headers: { Authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  ends.push(() => client.close())
  return client
}

async function call(client: Client, name: string, input: object): Promise<Record<string, unknown>> {
  const result = await client.callTool({ name, arguments: { ...input } })
  return (result.structuredContent ?? result._meta?.['wardspace/failure']) as Record<string, unknown>
}

/** Sends raw bytes. Returns the status line, or nothing if the server closes the connection. */
async function send(url: string, bytes: string): Promise<string> {
  const socket = openSocket({ host: '127.0.0.1', port: Number(new URL(url).port) })
  socket.on('error', () => {})
  socket.write(bytes)
  let answer = ''
  for await (const chunk of socket) {
    answer += String(chunk)
    if (answer.includes('\r\n\r\n')) break
  }
  socket.destroy()
  return answer.split('\r\n')[0] ?? ''
}

describe('wardspace mcp --http', () => {
  it('serves the official client: list, call, refusal, progress, cancellation, approval, resources', async () => {
    const serving = await serve(['--shell', 'bash', '--policy', 'supervised'])
    const requests: string[] = []
    const person = new Client({ name: 'person', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
    person.setRequestHandler(ElicitRequestSchema, ({ params }) => {
      requests.push(params.message)
      return { action: 'accept', content: { decision: 'allow once' } }
    })
    const client = await connect(serving, person)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['read_file', 'run_command']),
    )
    expect(await call(client, 'read_file', { path: 'a.txt' })).toMatchObject({ content: 'one\n' })
    expect(await call(client, 'read_file', { path: '.env' })).toMatchObject({ code: 'POLICY_DENIED_SECRET' })
    expect(await call(client, 'edit_file', { path: 'a.txt', oldText: 'one', newText: 'two' })).toMatchObject({
      ok: true,
    })
    expect(await readFile(join(root, 'a.txt'), 'utf8')).toBe('two\n')
    expect(requests).toEqual([expect.stringContaining('+two')])
    const { resources } = await client.listResources()
    expect(resources.length).toBeGreaterThan(0)

    const progress: number[] = []
    const cancel = new AbortController()
    const slow = client.callTool(
      { name: 'run_command', arguments: { command: 'echo begins; echo three > a.txt; sleep 600' } },
      undefined,
      {
        signal: cancel.signal,
        onprogress: (reported) => {
          progress.push(reported.progress)
          cancel.abort('enough')
        },
      },
    )
    await expect(slow).rejects.toThrow('enough')
    expect(progress.length).toBeGreaterThan(0)
    expect(await call(client, 'read_file', { path: 'a.txt' })).toMatchObject({ content: 'two\n' })
  })

  it('refuses clients without a token, web pages, and foreign host names', async () => {
    const serving = await serve([], { WARDSPACE_TOKEN: 'a-token-of-this-test' })
    const { url, token } = serving
    const { port } = new URL(url)
    await expect(connect({ ...serving, token: 'another-token-altogether' })).rejects.toThrow(/token/)
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
    })
    const raw = (host: string, more = '', line = 'POST /mcp HTTP/1.1') =>
      send(
        url,
        `${line}\r\n${host}${more}Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
    const own = `Host: 127.0.0.1:${port}\r\n`
    expect(await raw(own)).toContain('200')
    expect(await raw(`Host: localhost:${port}\r\n`)).toContain('200')
    expect(await raw(`hOST: [::1]:${port}\r\n`)).toContain('200')
    for (const host of [
      `Host: rebound.example:${port}\r\n`,
      'Host: rebound.example\r\n',
      `Host: 127.0.0.1.rebound.example:${port}\r\n`,
      `Host: 127.0.0.1:${Number(port) + 1}\r\n`,
      'Host: 127.0.0.1\r\n',
      `Host: 127.0.0.1:${port}, rebound.example\r\n`,
      `Host: user@127.0.0.1:${port}\r\n`,
    ]) {
      expect([host, await raw(host)]).toEqual([host, expect.stringMatching(/ (403|400) /)])
    }
    // Two hosts, none, an empty one, and one only in the address.
    expect(await raw(`${own}Host: rebound.example\r\n`)).toMatch(/ (403|400) /)
    expect(await raw(`Host: rebound.example\r\n${own}`)).toMatch(/ (403|400) /)
    expect(await raw('')).toContain('400')
    expect(await raw('', '', 'POST /mcp HTTP/1.0')).toContain('400')
    expect(await raw('Host:\r\n')).toMatch(/ (403|400) /)
    expect(await raw('Host: rebound.example\r\n', '', `POST http://127.0.0.1:${port}/mcp HTTP/1.1`)).toContain('400')
    for (const origin of ['https://evil.example', 'null', `http://127.0.0.1:${Number(port) + 1}`]) {
      expect([origin, await raw(own, `Origin: ${origin}\r\n`)]).toEqual([origin, expect.stringContaining('403')])
    }
    expect(await raw(own, `Origin: http://127.0.0.1:${port}\r\n`)).toContain('200')
    expect(await raw(own, '', 'POST /other HTTP/1.1')).toContain('404')
    expect(await raw(own, '', 'TRACE /mcp HTTP/1.1')).toContain('405')
    expect(await raw(own, '', 'PATCH /mcp HTTP/1.1')).toContain('405')
    expect(await raw(own, 'Authorization: Bearer x\r\n')).toMatch(/ (400|401) /)
  })

  it('answers before a large body has arrived, and limits its size', async () => {
    const { url, token } = await serve()
    const body = 'x'.repeat(9 * 1024 * 1024)
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
    const refused = await fetch(url, { method: 'POST', body, headers })
    expect(refused.status).toBe(401)
    const bounded = await fetch(url, {
      method: 'POST',
      body,
      headers: { ...headers, Authorization: `Bearer ${token}` },
    })
    expect(bounded.status).toBe(413)
    expect(await bounded.json()).toMatchObject({ error: { data: { hint: expect.stringContaining('less') } } })
  })

  it('accepts an allowed origin, and an allowed host name', async () => {
    const { url } = await serve(['--allowed-origin', 'https://app.example', '--allowed-host', 'box.example'])
    const headers = { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' }
    const preflight = await fetch(url, { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([
      204,
      'https://app.example',
    ])
    expect(await send(url, 'GET /mcp HTTP/1.1\r\nHost: box.example\r\n\r\n')).toContain('401')
  })

  it('ends on SIGTERM with 0, and ends every session and command', async () => {
    const serving = await serve(['--shell', 'bash'])
    const client = await connect(serving)
    await call(client, 'start_command', { command: 'echo x > x.txt; sleep 600' })
    const cut = call(client, 'run_command', { command: 'echo y > y.txt; sleep 600' }).catch(
      (error: Error) => error.message,
    )
    serving.host.emit('SIGTERM')
    expect(await serving.ended).toBe(0)
    await client.close()
    expect(await cut).toMatch(/closed|failed/)
    await expect(readFile(join(root, 'x.txt'))).rejects.toThrow('ENOENT')
    await expect(readFile(join(root, 'y.txt'))).rejects.toThrow('ENOENT')
    await expect(fetch(serving.url)).rejects.toThrow()
  })

  it('prints its address and a new token, never a token that was passed in', async () => {
    const server = start(['--root', root, '--http', '0'])
    await expect.poll(() => String(server.host.stderr.read() ?? '')).toMatch(/MCP at http:\/\/127\.0\.0\.1:\d+\/mcp/)
    const tokenFile = join(home, 'token')
    await writeFile(tokenFile, 'a-token-from-a-file\n')
    const value = start(['--root', root, '--http', '0', '--token-file', tokenFile, '--host', '[::1]'])
    let output = ''
    value.host.stderr.on('data', (chunk) => {
      output += String(chunk)
    })
    await expect.poll(() => output).toMatch(/MCP at http:\/\/\[::1\]:\d+\/mcp/)
    const url = /http:\S+/.exec(output)?.[0] as string
    const wrong = await fetch(url, { headers: { Authorization: 'Bearer a-token-from-a-file' } })
    expect(wrong.status).toBe(400)
    expect(output).not.toContain('a-token-from-a-file')
    const open = start(['--root', root, '--http', '0', '--host', '0.0.0.0', '--allowed-host', 'box.example'], {
      WARDSPACE_TOKEN: 'a-token-of-this-test',
    })
    const [first] = (await once(open.host.stderr, 'data')) as [Buffer]
    await expect.poll(() => `${first}${open.host.stderr.read() ?? ''}`).toMatch(/not encrypted|MCP at/)
    for (const { host, ended } of [server, value, open]) {
      host.emit('SIGINT')
      expect(await ended).toBe(0)
    }
  })

  it('asks in the terminal with --ask', async () => {
    const serving = await serve(['--ask', '--policy', 'supervised'])
    serving.host.emit('SIGTERM')
    expect(await serving.ended).toBe(0)
  })
})

describe('wardspace mcp over stdio', () => {
  it('serves until stdin ends', async () => {
    const { host, ended } = start(['--root', root, '--dialect', 'mcp-filesystem'])
    const output = text(host.stdout)
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'raw', version: '1' } }
    host.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
    host.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`)
    host.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' })}\n`)
    await once(host.stdout, 'data')
    await expect.poll(() => host.stdin.readableLength).toBe(0)
    host.stdin.end()
    expect(await ended).toBe(0)
    host.stdout.end()
    expect(await output).toContain('list_allowed_directories')
  })
})

describe('the roots of a client', () => {
  /** A client with these roots, which can change later. */
  function rooted(...directories: string[]) {
    const entry = { roots: directories }
    const client = new Client({ name: 'rooted', version: '1.0.0' }, { capabilities: { roots: { listChanged: true } } })
    client.setRequestHandler(ListRootsRequestSchema, () => ({
      roots: entry.roots.map((directory) => ({ uri: pathToFileURL(directory).href })),
    }))
    const name = async (...others: string[]) => {
      entry.roots = others
      await client.sendRootsListChanged()
    }
    return { client, name }
  }

  async function overStdio(client: Client, words: readonly string[]): Promise<PassThrough> {
    const { host } = start(words)
    await client.connect(new StdioServerTransport(host.stdout, host.stdin))
    ends.push(() => client.close())
    return host.stderr
  }

  it('narrow those of the command line, can change, and never widen them', async () => {
    const audit = join(home, 'roots.jsonl')
    const base = join(home, 'base')
    const inner = join(base, 'inner')
    await mkdir(inner, { recursive: true })
    await writeFile(join(inner, 'a.txt'), 'inner\n')
    await writeFile(join(base, 'beside.txt'), 'beside\n')
    const { client, name } = rooted(inner)
    const stderr = await overStdio(client, ['--root', base, '--audit', audit])
    const codeOf = async (path: string) => (await call(client, 'read_file', { path })).code
    expect(await codeOf('inner/a.txt')).toBeUndefined()
    expect(await codeOf('beside.txt')).toBe('NOT_FOUND')
    for (const wide of [[], [base], [root, home]]) {
      await name(...wide)
      expect(await codeOf('beside.txt')).toBeUndefined()
    }
    await name(root, '/usr')
    expect(await call(client, 'read_file', { path: 'inner/a.txt' })).toMatchObject({
      code: 'NOT_FOUND',
      message: expect.stringContaining('outside the granted directories'),
    })
    await expect.poll(() => String(stderr.read() ?? '')).toContain('None of the client')
    await name(inner)
    expect([await codeOf('inner/a.txt'), await codeOf('beside.txt')]).toEqual([undefined, 'NOT_FOUND'])
    await client.close()
    for (const end of ends.splice(0).reverse()) await end()
    expect(verifyAuditFile(audit)).toMatchObject({ ok: true })
  })

  it('are granted if the command line names none, but never widen the directory of an HTTP server', async () => {
    const { client } = rooted(root)
    await overStdio(client, ['--policy', 'autonomous'])
    expect(await call(client, 'read_file', { path: 'a.txt' })).toMatchObject({ ok: true })

    const docs = join(home, 'granted')
    await mkdir(docs, { recursive: true })
    await writeFile(join(docs, 'b.txt'), 'b\n')
    const serving = await serve(['--root', docs, '--shell', 'bash'])
    const narrow = await connect(serving, rooted(docs).client)
    expect(await call(narrow, 'read_file', { path: 'granted/b.txt' })).toMatchObject({ ok: true })
    expect(await call(narrow, 'read_file', { path: 'project/a.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    expect(await call(narrow, 'run_command', { command: 'ls' })).toMatchObject({ stdout: 'granted\n' })
    const whole = await connect(serving, rooted(docs, root).client)
    expect(await call(whole, 'read_file', { path: 'project/a.txt' })).toMatchObject({ ok: true })
    const wide = rooted('/usr')
    const refused = await connect(serving, wide.client)
    expect(await call(refused, 'read_file', { path: 'project/a.txt' })).toMatchObject({ code: 'NOT_FOUND' })
    await wide.name()
    expect(await call(refused, 'read_file', { path: 'project/a.txt' })).toMatchObject({ ok: true })
  })

  it('are not requested if an overlay, a recording or an audit file belongs to all roots', async () => {
    for (const words of [
      ['--overlay'],
      ['--record', join(home, 'record.jsonl')],
      ['--audit', join(home, 'one.jsonl')],
    ]) {
      const { client } = rooted('/usr')
      await connect(await serve(words), client)
      expect(await call(client, 'read_file', { path: 'a.txt' })).toMatchObject({ ok: true })
      await client.close()
      for (const end of ends.splice(0).reverse()) await end()
    }
  })
})

describe('options that contradict each other are refused with the reason', () => {
  it.each<[string[], RegExp]>([
    [['--host', '127.0.0.1'], /--host needs --http/],
    [['--token-file', 'x'], /--token-file needs --http/],
    [['--allowed-host', 'x'], /--allowed-host needs --http/],
    [['--allowed-origin', 'x'], /--allowed-origin needs --http/],
    [['--ask'], /--ask needs stdin/],
    [['--json'], /--json needs --http/],
    [['--http', 'x'], /"x" is not a port/],
    [['--http', '65536'], /"65536" is not a port/],
    [['--http', '0', '--host', '0.0.0.0'], /accepts other machines/],
    [['--http', '0', '--host', 'box.example'], /accepts other machines/],
    [['--http', '0', '--token', 'x'], /There is no option "--token"/],
    [['--http', '0', '--token-file', '/nowhere/token'], /Cannot read the token file/],
    [['--http', '0', '--allowed-origin', '*'], /"\*" is not an origin/],
    [['--http', '0', '--allowed-host', 'http://x'], /is not a host/],
    [['--shell', 'zsh'], /There is no shell "zsh"; the shells are/],
    [['--shell', 'bash', '--policy', 'readOnly'], /This policy allows no commands/],
    [['--shell', 'node', '--read-only'], /cannot be read-only/],
    [['--shell', 'node', '--overlay'], /not in its overlay/],
    [['--dialect', 'klingon'], /There is no dialect "klingon"/],
  ])('%j', async (words, reason) => {
    await expect(start(['--root', root, ...words]).ended).rejects.toThrow(reason)
  })

  it('a short token, every address without an allowed host, and a token file in the root are refused', async () => {
    await expect(start(['--root', root, '--http', '0'], { WARDSPACE_TOKEN: 'short' }).ended).rejects.toThrow(/16 to/)
    const every = start(['--root', root, '--http', '0', '--host', '::'], { WARDSPACE_TOKEN: 'a-token-of-this-test' })
    await expect(every.ended).rejects.toThrow(/--allowed-host/)
    const inside = join(root, 'token')
    await writeFile(inside, 'a-token-of-this-test')
    await expect(start(['--root', root, '--http', '0', '--token-file', inside]).ended).rejects.toThrow(
      /inside the root/,
    )
    const linked = join(home, 'linked')
    await symlink(inside, linked)
    await expect(start(['--root', root, '--http', '0', '--token-file', linked]).ended).rejects.toThrow(
      /inside the root/,
    )
    await rm(inside)
  })

  it('a port in use is refused, and nothing stays open', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    const words = ['--root', root, '--overlay', '--http', String(port)]
    await expect(start(words).ended).rejects.toThrow(`Cannot listen on 127.0.0.1, port ${port}: EADDRINUSE`)
    await expect(start(words).ended).rejects.toThrow('EADDRINUSE')
    other.close()
  })
})

describe('several roots', () => {
  it('appear side by side under their names, and nothing else can be reached or created', async () => {
    const docs = join(home, 'docs')
    await mkdir(docs, { recursive: true })
    await writeFile(join(docs, 'b.txt'), 'b\n')
    const serving = await serve(['--root', `notes=${docs}`])
    const client = await connect(serving)
    expect(await call(client, 'list_directory', {})).toMatchObject({
      entries: [
        { path: 'notes', type: 'directory' },
        { path: 'project', type: 'directory' },
      ],
    })
    expect(await call(client, 'read_file', { path: 'notes/b.txt' })).toMatchObject({ content: 'b\n' })
    expect(await call(client, 'read_file', { path: 'notes/../../docs/b.txt' })).toMatchObject({ code: 'PATH_REJECTED' })
    expect(await call(client, 'write_file', { path: 'beside.txt', content: 'x' })).toMatchObject({ code: 'READ_ONLY' })
    // An agent cannot create a configuration in any of the roots.
    expect(await call(client, 'write_file', { path: 'notes/wardspace.config.json', content: '{}' })).toMatchObject({
      code: 'READ_ONLY',
    })
  })

  it('have one overlay each', async () => {
    const docs = join(home, 'drafted')
    await mkdir(docs, { recursive: true })
    const client = await connect(await serve(['--root', docs, '--overlay']))
    expect(await call(client, 'write_file', { path: 'drafted/c.txt', content: 'c\n' })).toMatchObject({ ok: true })
    await expect(readFile(join(docs, 'c.txt'))).rejects.toThrow('ENOENT')
    // If the second overlay is not available, the first one is released.
    await expect(start(['--root', root, '--root', docs, '--overlay']).ended).rejects.toThrow('Another process')
  })

  it('are refused if a file would have two paths, or a root no name', async () => {
    const inner = join(root, 'inner')
    await mkdir(inner, { recursive: true })
    const linked = join(home, 'also')
    await symlink(root, linked)
    for (const [roots, reason] of [
      [[root, inner], `The root "${inner}" is inside the root "${root}"`],
      [[inner, root], `The root "${inner}" is inside the root "${root}"`],
      [[root, linked], 'is inside the root'],
      [[root, `again=${root}/`], 'is inside the root'],
      [[root, `project=${home}/docs`], 'Two roots have the name "project"'],
      [[root, '/'], '"" cannot be the name of a root'],
      [[root, `..=${home}/docs`], '".." cannot be the name of a root'],
      [[root, `x=${home}/nowhere`], 'nowhere'],
    ] as [string[], string][]) {
      const words = roots.flatMap((one) => ['--root', one])
      await expect(start(words).ended, reason).rejects.toThrow(reason)
    }
    await expect(start(['--root', `x=${root}`, '--shell', 'node']).ended).rejects.toThrow('in one directory')
    await rm(inner, { recursive: true })
  })

  it('are refused by commands that work on one directory', () => {
    expect(oneRoot(undefined)).toBe('.')
    expect(oneRoot(['./a=b'])).toBe('./a=b')
    for (const wrong of [['a', 'b'], ['name=a']]) expect(() => oneRoot(wrong)).toThrow('works on one directory')
  })

  it('do not use the configuration of one of them', async () => {
    const ruled = join(home, 'ruled')
    await mkdir(ruled, { recursive: true })
    const policy = join(ruled, 'wardspace.config.json')
    await writeFile(policy, '{ "preset": "autonomous", "deniedPaths": ["**/b.txt"] }')
    await writeFile(join(ruled, 'b.txt'), 'b\n')
    await expect(start([], {}, ['--root', root, '--root', ruled]).ended).rejects.toThrow(
      'pass one policy with --policy',
    )
    await expect(start([], {}, ['--root', `x=${ruled}`]).ended).rejects.toThrow('pass one policy with --policy')
    const client = await connect(await serve(['--root', ruled, '--policy', policy]))
    expect(await call(client, 'read_file', { path: 'ruled/b.txt' })).toMatchObject({ code: 'POLICY_DENIED' })
  })
})

describe('the inspector’s command line', () => {
  it('lists over stdio, and is refused over HTTP', async () => {
    const serving = await serve()
    const [listed, refused] = await Promise.all([
      inspect([process.execPath, main, ...withPolicy(['mcp', '--root', root, '--read-only'])], 'tools/list'),
      inspect([serving.url, '--header', `Authorization: Bearer ${serving.token}`], 'tools/call', [
        ...['--tool-name', 'read_file', '--tool-arg', 'path=.env'],
      ]),
    ])
    const { tools } = JSON.parse(listed.stdout) as { tools: { name: string }[] }
    expect(tools.map(({ name }) => name)).toContain('search_text')
    expect(JSON.parse(refused.stdout)).toMatchObject({ isError: true })
    expect(refused.stdout).not.toContain('hunter2')
  })
})

describe('the listener', () => {
  it('closes the connection if there is no response, and continues to listen', async () => {
    const listening = await listen(
      async (request) => {
        if (request.url.endsWith('/fails')) throw new Error('broken')
        return new Response(request.body)
      },
      { host: '127.0.0.1', port: 0 },
    )
    const url = `http://127.0.0.1:${listening.port}`
    await expect(fetch(`${url}/fails`)).rejects.toThrow()
    const body = 'x'.repeat(3 * 1024 * 1024)
    expect((await (await fetch(url, { method: 'POST', body })).text()).length).toBe(body.length)
    // A client that disconnects during its request, and one that never ends its request.
    const socket = openSocket({ host: '127.0.0.1', port: listening.port })
    socket.on('error', () => {})
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf')
    await once(socket, 'data')
    socket.destroy()
    const stuck = openSocket({ host: '127.0.0.1', port: listening.port })
    stuck.on('error', () => {})
    stuck.write('POST /fails HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf')
    const hungUp = once(stuck, 'close')
    stuck.resume()
    await hungUp
    await listening.close()
  })
})
