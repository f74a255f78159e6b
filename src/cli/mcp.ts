import type { Readable, Writable } from 'node:stream'
import { createMcpServer } from '../adapters/mcp/index.ts'
import type { ApproveHandler } from '../policy/approval.ts'
import type { DialectWorkspace, Workspace } from '../workspace/create-workspace.ts'
import { rootsOfClient, type ServedWorkspace } from './client-roots.ts'
import { dialectOf } from './dialect.ts'
import type { HttpServer } from './mcp-http.ts'
import { configOf, openWorkspace } from './options.ts'
import { httpOptionNames, parseWords, refuseAskAndPark, type Values } from './parse-words.ts'
import { type Root, rootsOf } from './roots.ts'
import { StdioTransport } from './stdio-transport.ts'
import { tokenOf } from './token.ts'

type McpOptions = Values<'mcp'>

/** The parts of a process that the server uses. */
export interface Host {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable
  readonly env: Readonly<Record<string, string | undefined>>
  once(event: 'SIGINT' | 'SIGTERM', listener: () => void): unknown
}

/** `wardspace mcp`: serves the tools over stdio until the client disconnects, or over HTTP until a signal. */
export async function mcp(words: string[], host: Host = process): Promise<number> {
  const { values } = parseWords('mcp', words, 0)
  if (values.http !== undefined) refuseAskAndPark(values)
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) host.once(signal, resolve)
  })
  await (values.http === undefined
    ? serveStdio(values, host, stopped)
    : serveOverHttp(values.http, values, host, stopped))
  return 0
}

async function serveStdio(values: McpOptions, host: Host, stopped: Promise<void>): Promise<void> {
  for (const name of httpOptionNames) {
    if (values[name] !== undefined) throw new TypeError(`--${name} needs --http PORT`)
  }
  if (values.ask === true) {
    throw new TypeError(
      '--ask needs stdin, which the client uses; use --http PORT, or leave it out, and the client asks if it can',
    )
  }
  if (values.json === true) throw new TypeError('--json needs --http PORT: without it, stdout belongs to the client')
  const workspace = await openServed(values)
  const clientRoots = isFixed(values)
    ? undefined
    : rootsOfClient(exclusive(workspace), {
        granted: values.root === undefined ? undefined : rootsOf(values.root),
        open: async (roots) => exclusive(await openServed(values, undefined, roots)),
        onError: printTo(host),
      })
  const server = createMcpServer(workspace, clientRoots === undefined ? {} : { roots: clientRoots.roots })
  const disconnected = new Promise<void>((resolve) => {
    server.onclose = resolve
  })
  await server.connect(new StdioTransport(host.stdin, host.stdout, printTo(host)))
  await Promise.race([disconnected, stopped])
  await server.close()
  await (clientRoots ?? workspace).close()
}

async function serveOverHttp(text: string, values: McpOptions, host: Host, stopped: Promise<void>): Promise<void> {
  const { isLoopback, requireHosts, serveHttp } = await import('./mcp-http.ts')
  const address = (values.host ?? '127.0.0.1').replace(/^\[(.*)\]$/, '$1')
  const allowedHosts = values['allowed-host'] ?? []
  const { token, isNew } = tokenOf(values['token-file'], host.env, rootsOf(values.root))
  if (!/^[\w.:-]+$/.test(address)) {
    throw new TypeError(`--host ${JSON.stringify(address)} is not a host: write a name or an IP address`)
  }
  if (isNew && !isLoopback(address)) {
    throw new TypeError(`--host ${address} accepts other machines: set a token with --token-file or WARDSPACE_TOKEN`)
  }
  requireHosts(address, allowedHosts)
  const port = portOf(text)
  const terminal = values.ask === true ? (await import('./ask.ts')).askInTerminal() : undefined
  const workspace = await openServed(values, terminal?.approve)
  const print = printTo(host)
  let server: HttpServer
  try {
    const allowedOrigins = values['allowed-origin'] ?? []
    // An audit file takes the records of only one workspace.
    const narrows = !isFixed(values) && (await configOf(values, await dialectOf(values.dialect))).audit === undefined
    server = await serveHttp(workspace, {
      ...{ host: address, port, token, allowedHosts, allowedOrigins },
      ...(narrows
        ? { openNarrowed: async (roots) => exclusive(await openServed(values, terminal?.approve, roots)) }
        : {}),
      roots: rootsOf(values.root),
      onError: print,
    })
  } catch (error) {
    terminal?.close()
    await workspace.close()
    throw error
  }
  if (values.json === true) host.stdout.write(`${JSON.stringify({ url: server.url, ...(isNew ? { token } : {}) })}\n`)
  else {
    print(`MCP at ${server.url}`)
    if (isNew) print(`Authorization: Bearer ${token}`)
  }
  if (!isLoopback(address)) print('network traffic is not encrypted: put a proxy with TLS in front')
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
  const extra = { run: { actor: 'mcp' }, ...(approve === undefined ? {} : { approve }) }
  return openWorkspace(values, extra, await dialectOf(values.dialect), roots)
}

/** Wraps a workspace that only one client uses. */
function exclusive(workspace: Workspace | DialectWorkspace): ServedWorkspace {
  return { workspace, run: workspace, close: () => workspace.close() }
}

/** Whether the roots are fixed: an overlay, a recording and a node shell belong to all roots, so a client cannot narrow them. */
function isFixed({ overlay, record, shell }: McpOptions): boolean {
  return overlay === true || record !== undefined || shell === 'node'
}

/** Returns a function that prints a line, or the message of an error, to stderr. */
function printTo(host: Host): (line: unknown) => void {
  return (line) => void host.stderr.write(`wardspace: ${line instanceof Error ? line.message : String(line)}\n`)
}

function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text)
  throw new TypeError(`"${text}" is not a port: use a number up to 65535, or 0 for any free one`)
}
