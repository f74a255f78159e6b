import { isTakenMedia, type TakenMedia } from '../../files/media/types.ts'
import {
  checkArgument,
  checkOptions,
  isFunction,
  isObjectWith,
  isPositive,
  isText,
  type OptionTable,
  refuseSurplus,
  shape,
} from '../../util/check-options.ts'
import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../../workspace/create-workspace.ts'
import type { ClientRoots } from './client-roots.ts'
import { Connection } from './connection.ts'
import { withLegacyCode, withPlainWords } from './protocol-errors.ts'
import { type StdioServerHandle, serveStdio } from './sdk.ts'
import { type ConnectionOptions, serveConnection } from './serve-connection.ts'
import type { Served } from './served-workspace.ts'
import type { McpTransport } from './transport.ts'

/** Name, run, approvals and roots of a server. */
export interface McpServerOptions {
  /** Default: `wardspace`. */
  readonly name?: string
  readonly version?: string
  /** The run that the client's calls belong to. Default: the workspace's own. */
  readonly run?: WorkspaceRun | DialectRun
  /** Milliseconds until an approval request at the client expires. Default: 30 minutes. */
  readonly approvalTimeoutMs?: number
  /**
   * The images and documents that the client takes: `true`, `false`, or a list of types such as `image/png`. `read_file` returns an
   * image as an `image` block, and a PDF document as an embedded resource, which every version of the protocol has; a resource of
   * such a file is a blob. Default: true.
   */
  readonly media?: TakenMedia
  /** Serves the roots of the client, if it has any. By default, the workspace is served and the roots are ignored. */
  readonly roots?: ClientRoots
}

export type { ClientRoot, ClientRoots, OpenedRoots, RefusedRoot } from './client-roots.ts'
export type { McpTransport } from './transport.ts'

/** A server for one client. */
export interface McpServer {
  /** Serves the client at the other end. Throws if the server is connected already. */
  connect(transport: McpTransport): Promise<void>
  /** Ends the connection and its running calls. */
  close(): Promise<void>
  /** Called when the connection has ended. */
  onclose?: (() => void) | undefined
  /** Called when the client has confirmed the handshake, which protocol 2026-07-28 does not have. */
  oninitialized?: (() => void) | undefined
  /** Called with errors of the transport and of messages that cannot be answered. */
  onerror?: ((error: Error) => void) | undefined
}

const optionTable: OptionTable<McpServerOptions> = {
  name: isText,
  version: isText,
  run: isObjectWith('a run', 'callTool'),
  approvalTimeoutMs: isPositive,
  media: isTakenMedia(),
  roots: shape<ClientRoots>({ open: isFunction, timeoutMs: isPositive }, 'open'),
}

/** Users need time to answer; the default of the protocol is one minute. */
const APPROVAL_TIMEOUT = 30 * 60_000

/**
 * Creates a server of the Model Context Protocol over a workspace, for one client and any transport: tools with annotations, output
 * schemas, structured results, progress and cancellation. It speaks protocol 2026-07-28 and the versions since 2024-10-07, as the
 * client does. A refusal is a result with `isError`, code and hint as text, and the complete refusal in
 * `_meta['wardspace/failure']`. Approvals are requested from the client by elicitation if the workspace has no `approve` and the
 * client supports it; without an answer, the call ends with `APPROVAL_REQUIRED` and can be resumed. A workspace with a `dialect` is
 * served with the dialect's tools and results. Protocol 2026-07-28 has no requests for roots: its clients get the workspace.
 *
 * @example
 * const server = createMcpServer(workspace)
 * await server.connect(new StdioServerTransport())
 */
export function createMcpServer(workspace: Workspace | DialectWorkspace, requested?: McpServerOptions): McpServer {
  refuseSurplus('createMcpServer()', 2, arguments)
  checkArgument('createMcpServer()', 'workspace', workspace, isObjectWith('a workspace', 'callTool', 'explain', 'run'))
  const options = checkOptions<McpServerOptions>('createMcpServer()', requested, optionTable)
  const { name = 'wardspace', version = '0.1.0', run = workspace } = options
  const { approvalTimeoutMs = APPROVAL_TIMEOUT, media = true, roots } = options
  return new WorkspaceServer({ workspace, run }, { name, version, approvalTimeoutMs, media, roots })
}

class WorkspaceServer implements McpServer {
  onclose: (() => void) | undefined
  oninitialized: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  readonly #served: Served
  readonly #options: Omit<ConnectionOptions, 'era' | 'onInitialized'>
  #connection: StdioServerHandle | undefined

  constructor(served: Served, options: Omit<ConnectionOptions, 'era' | 'onInitialized'>) {
    this.#served = served
    this.#options = options
  }

  async connect(transport: McpTransport): Promise<void> {
    if (this.#connection !== undefined) throw new TypeError('The server is connected already: create one per client')
    let era: ConnectionOptions['era'] = 'modern'
    const connection = new Connection(transport, {
      rewrite: (message) => withPlainWords(era === 'legacy' ? withLegacyCode(message) : message),
      onEnd: () => {
        this.#connection = undefined
        this.onclose?.()
      },
    })
    // Works with any transport that carries all messages of a connection.
    this.#connection = serveStdio(
      (opened) => {
        era = opened.era
        return serveConnection(this.#served, { ...this.#options, era, onInitialized: () => this.oninitialized?.() })
      },
      { transport: connection, onerror: (error) => this.onerror?.(error) },
    )
    try {
      await connection.started
    } catch (error) {
      this.#connection = undefined
      throw error
    }
  }

  async close(): Promise<void> {
    await this.#connection?.close()
  }
}
