import type { Readable, Writable } from 'node:stream'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpServer } from '../adapters/mcp/index.ts'
import type { ApproveHandler } from '../policy/approval.ts'
import type { DialectWorkspace, Workspace } from '../workspace/create-workspace.ts'
import { askInTerminal } from './ask.ts'
import { rootsOfClient, type ServedWorkspace } from './client-roots.ts'
import { dialectOf } from './dialect.ts'
import { type HttpServer, isLoopback, requireHosts, serveHttp } from './mcp-http.ts'
import { configOf, openWorkspace, parseOptions } from './options.ts'
import { type Root, rootsOf } from './roots.ts'
import { tokenOf } from './token.ts'

const own = {
  http: { type: 'string' },
  host: { type: 'string' },
  'token-file': { type: 'string' },
  'allowed-host': { type: 'string', multiple: true },
  'allowed-origin': { type: 'string', multiple: true },
} as const

type McpOptions = ReturnType<typeof parseOptions<typeof own>>['values']

/** What of a process the server uses. */
export interface Host {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  once(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
}

/** `wardspace mcp`: serves the tools over stdio until the client goes, or over HTTP until a signal. */
export async function mcp(words: string[], host: Host = process): Promise<number> {
  const { values } = parseOptions(words, 0, own)
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) host.once(signal, resolve)
  })
  await (values.http === undefined ? overStdio(values, host, stopped) : overHttp(values.http, values, host, stopped))
  return 0
}

async function overStdio(values: McpOptions, host: Host, stopped: Promise<void>): Promise<void> {
  for (const name of ['host', 'token-file', 'allowed-host', 'allowed-origin'] as const) {
    if (values[name] !== undefined) throw new TypeError(`--${name} is for --http PORT`)
  }
  if (values.ask === true) {
    throw new TypeError('--ask needs stdin, on which the client speaks: the client asks, where it can, or take --http')
  }
  if (values.json === true) throw new TypeError('--json tells where --http listens; stdout is the client’s otherwise')
  const workspace = await openServed(values)
  const following = isFixed(values)
    ? undefined
    : rootsOfClient(whole(workspace), {
        granted: values.root === undefined ? undefined : rootsOf(values.root),
        open: async (roots) => whole(await openServed(values, undefined, roots)),
        onError: sayOn(host),
      })
  const server = createMcpServer(workspace, following === undefined ? {} : { roots: following.roots })
  const gone = new Promise<void>((resolve) => {
    server.onclose = resolve
    host.stdin.once('end', resolve)
  })
  await server.connect(new StdioServerTransport(host.stdin, host.stdout))
  await Promise.race([gone, stopped])
  await server.close()
  await (following ?? workspace).close()
}

async function overHttp(text: string, values: McpOptions, host: Host, stopped: Promise<void>): Promise<void> {
  const address = (values.host ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1')
  const allowedHosts = values['allowed-host'] ?? []
  const { token, isNew } = tokenOf(values['token-file'], host.env, rootsOf(values.root))
  if (isNew && !isLoopback(address)) {
    throw new TypeError(`--host ${address} lets other machines in: give a token, by --token-file or WARDSPACE_TOKEN`)
  }
  requireHosts(address, allowedHosts)
  const port = portOf(text)
  const terminal = values.ask === true ? askInTerminal() : undefined
  const workspace = await openServed(values, terminal?.approve)
  const say = sayOn(host)
  let server: HttpServer
  try {
    const allowedOrigins = values['allowed-origin'] ?? []
    // One file takes the records of one workspace.
    const follows = !isFixed(values) && (await configOf(values)).audit === undefined
    server = await serveHttp(workspace, {
      ...{ host: address, port, token, allowedHosts, allowedOrigins },
      ...(follows ? { narrowed: async (roots) => whole(await openServed(values, terminal?.approve, roots)) } : {}),
      roots: rootsOf(values.root),
      onError: say,
    })
  } catch (error) {
    terminal?.close()
    await workspace.close()
    throw error
  }
  if (values.json === true) host.stdout.write(`${JSON.stringify({ url: server.url, ...(isNew ? { token } : {}) })}\n`)
  else {
    say(`MCP at ${server.url}`)
    if (isNew) say(`Authorization: Bearer ${token}`)
  }
  if (!isLoopback(address)) say('what goes over the network is not encrypted: put a proxy with TLS before it')
  await stopped
  await server.close()
  terminal?.close()
  await workspace.close()
}

async function openServed(
  values: McpOptions,
  approve?: ApproveHandler,
  roots?: readonly Root[],
): Promise<Workspace | DialectWorkspace> {
  const more = { run: { actor: 'mcp' }, ...(approve === undefined ? {} : { approve }) }
  return openWorkspace(values, more, await dialectOf(values.dialect), roots)
}

/** A workspace that is one client's alone. */
function whole(workspace: Workspace | DialectWorkspace): ServedWorkspace {
  return { workspace, run: workspace, close: () => workspace.close() }
}

/** Whether the roots stand as they are, whatever the client names: an overlay, a recording, a shell are of the whole. */
function isFixed({ overlay, record, shell }: McpOptions): boolean {
  return overlay === true || record !== undefined || shell === 'node'
}

/** Tells the person at the terminal a line, or what went wrong. */
function sayOn(host: Host): (what: unknown) => void {
  return (what) => void host.stderr.write(`wardspace: ${what instanceof Error ? what.message : String(what)}\n`)
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text)
  throw new TypeError(`"${text}" is no port: a number up to 65535, or 0 for any that is free`)
}
