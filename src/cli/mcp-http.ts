import { createMcpServer } from '../adapters/mcp/index.ts'
import { type McpHandler, mcpHandler } from '../adapters/mcp-http/index.ts'
import { refusal } from '../adapters/mcp-http/protocol-errors.ts'
import type { DialectWorkspace, Workspace } from '../workspace/create-workspace.ts'
import { rootsOfClient, type ServedWorkspace } from './client-roots.ts'
import { listen } from './listen.ts'
import type { Root } from './roots.ts'

export interface HttpOptions {
  readonly host: string
  readonly port: number
  readonly token: string
  readonly allowedHosts: readonly string[]
  readonly allowedOrigins: readonly string[]
  /** What the workspace is over. */
  readonly roots: readonly Root[]
  /** Opens a workspace over what a client's roots leave of it. Left out, clients are not asked for theirs. */
  readonly narrowed?: (roots: readonly Root[]) => Promise<ServedWorkspace>
  /** Is told what went wrong in a session. */
  readonly onError: (error: unknown) => void
}

/** A server while it serves. */
export interface HttpServer {
  /** What clients are given. */
  readonly url: string
  close(): Promise<void>
}

const PATH = '/mcp'
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/
const anyAddress = ['0.0.0.0', '::', '0']

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return loopback.test(host)
}

/**
 * Serves a workspace over Streamable HTTP at `/mcp`: a run for each session.
 *
 * @throws TypeError where the address cannot be had
 */
export async function serveHttp(workspace: Workspace | DialectWorkspace, serving: HttpOptions): Promise<HttpServer> {
  let opened = (_: McpHandler) => {}
  const ready = new Promise<McpHandler>((resolve) => {
    opened = resolve
  })
  const listening = await listen(async (request) => {
    if (new URL(request.url).pathname === PATH) return (await ready).fetch(request)
    return refusal(404, 'There is nothing here', `The server is at ${PATH}.`)
  }, serving)
  const { port } = listening
  let handler: McpHandler
  try {
    handler = handlerOf(workspace, serving, port)
  } catch (error) {
    await listening.close()
    throw error
  }
  opened(handler)
  return {
    url: `http://${inUrl(serving.host)}:${port}${PATH}`,
    async close() {
      const ended = listening.close()
      await handler.close()
      await ended
    },
  }
}

function handlerOf(workspace: Workspace | DialectWorkspace, serving: HttpOptions, port: number): McpHandler {
  // All sessions are runs of the one workspace, unless a client's roots leave it only a part.
  const shared = (): ServedWorkspace => {
    const run = workspace.run({ actor: 'mcp' })
    return { workspace, run, close: () => run.close() }
  }
  return mcpHandler({
    token: serving.token,
    allowedHosts: [...hostsOf(serving.host, port), ...serving.allowedHosts],
    allowedOrigins: serving.allowedOrigins,
    onError: serving.onError,
    open() {
      const first = shared()
      const { narrowed, roots: granted, onError } = serving
      if (narrowed === undefined) return { server: createMcpServer(workspace, first), close: first.close }
      const open = async (roots: readonly Root[] | undefined) => (roots === undefined ? shared() : narrowed(roots))
      const following = rootsOfClient(first, { granted, open, onError })
      return { server: createMcpServer(workspace, { run: first.run, roots: following.roots }), close: following.close }
    },
  })
}

/**
 * What `Host` may say, where the server listens on an address.
 *
 * @throws TypeError where it listens on all of them, and none is named
 */
export function requireHosts(host: string, allowedHosts: readonly string[]): void {
  if (!anyAddress.includes(host) || allowedHosts.length > 0) return
  throw new TypeError(`--host ${host} is every address: name those that clients use with --allowed-host`)
}

function hostsOf(host: string, port: number): string[] {
  const names = isLoopback(host) ? ['localhost', '127.0.0.1', '[::1]', inUrl(host)] : []
  return [...names, ...(anyAddress.includes(host) ? [] : [inUrl(host)])].map((name) => `${name}:${port}`)
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
