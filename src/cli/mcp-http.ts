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
  /** Roots of the workspace. */
  readonly roots: readonly Root[]
  /** Opens a workspace over the roots of a client. Default: clients are not asked for their roots. */
  readonly openNarrowed?: (roots: readonly Root[]) => Promise<ServedWorkspace>
  /** Called with every error of a session. */
  readonly onError: (error: unknown) => void
}

/** A running server. */
export interface HttpServer {
  /** Address for clients. */
  readonly url: string
  close(): Promise<void>
}

const PATH = '/mcp'
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/
const anyAddress = ['0.0.0.0', '::', '0']

/** Whether an address is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  return loopback.test(host)
}

/**
 * Serves a workspace over Streamable HTTP at `/mcp`: a run for each session.
 *
 * @throws TypeError if the address is not available
 */
export async function serveHttp(workspace: Workspace | DialectWorkspace, options: HttpOptions): Promise<HttpServer> {
  let resolveReady = (_: McpHandler) => {}
  const ready = new Promise<McpHandler>((resolve) => {
    resolveReady = resolve
  })
  const listening = await listen(async (request) => {
    if (new URL(request.url).pathname === PATH) return (await ready).fetch(request)
    return refusal(404, 'There is nothing here', `The server is at ${PATH}.`)
  }, options)
  const { port } = listening
  let handler: McpHandler
  try {
    handler = handlerOf(workspace, options, port)
  } catch (error) {
    await listening.close()
    throw error
  }
  resolveReady(handler)
  return {
    url: `http://${inUrl(options.host)}:${port}${PATH}`,
    async close() {
      const ended = listening.close()
      await handler.close()
      await ended
    },
  }
}

function handlerOf(workspace: Workspace | DialectWorkspace, options: HttpOptions, port: number): McpHandler {
  // All sessions are runs of one workspace, except those whose client has narrower roots.
  const shared = (): ServedWorkspace => {
    const run = workspace.run({ actor: 'mcp' })
    return { workspace, run, close: () => run.close() }
  }
  return mcpHandler({
    token: options.token,
    allowedHosts: [...hostsOf(options.host, port), ...options.allowedHosts],
    allowedOrigins: options.allowedOrigins,
    onError: options.onError,
    open() {
      const first = shared()
      const { openNarrowed, roots: granted, onError } = options
      if (openNarrowed === undefined)
        return { server: createMcpServer(workspace, { run: first.run }), close: first.close }
      const open = async (roots: readonly Root[] | undefined) => (roots === undefined ? shared() : openNarrowed(roots))
      const following = rootsOfClient(first, { granted, open, onError })
      return { server: createMcpServer(workspace, { run: first.run, roots: following.roots }), close: following.close }
    },
  })
}

/**
 * Checks that the allowed `Host` headers are known.
 *
 * @throws TypeError if the server listens on every address and no host is allowed
 */
export function requireHosts(host: string, allowedHosts: readonly string[]): void {
  if (!anyAddress.includes(host) || allowedHosts.length > 0) return
  throw new TypeError(`--host ${host} is every address: name the hosts that clients use with --allowed-host`)
}

function hostsOf(host: string, port: number): string[] {
  const names = isLoopback(host) ? ['localhost', '127.0.0.1', '[::1]', inUrl(host)] : []
  return [...names, ...(anyAddress.includes(host) ? [] : [inUrl(host)])].map((name) => `${name}:${port}`)
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
