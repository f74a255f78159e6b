import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { InitializedNotificationSchema, RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import {
  checkOptions,
  isFunction,
  isObjectWith,
  isPositive,
  isText,
  type OptionTable,
  shape,
} from '../../util/check-options.ts'
import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../../workspace/create-workspace.ts'
import { createCallOptions } from './call-options.ts'
import { type ClientRoots, createRootsRequester } from './client-roots.ts'
import { serveCompletions } from './completions.ts'
import { formValidator } from './form-validation.ts'
import { instructionsFor } from './instructions.ts'
import { servePrompts } from './prompts.ts'
import { serveResources } from './resources.ts'
import { createServedState, ignoreClosed, type ServedOrReason } from './served-workspace.ts'
import { serveTools } from './tools.ts'

/** Name, run, approvals and roots of a server. */
export interface McpServerOptions {
  /** Default: `wardspace`. */
  readonly name?: string
  readonly version?: string
  /** The run that the client's calls belong to. Default: the workspace's own. */
  readonly run?: WorkspaceRun | DialectRun
  /** Milliseconds until an approval request at the client expires. Default: 30 minutes. */
  readonly approvalTimeoutMs?: number
  /** Serves the roots of the client, if it has any. Default: the workspace, whatever roots the client has. */
  readonly roots?: ClientRoots
}

export type { ClientRoot, ClientRoots, OpenedRoots, RefusedRoot } from './client-roots.ts'

const optionTable: OptionTable<McpServerOptions> = {
  name: isText,
  version: isText,
  run: isObjectWith('a run', 'callTool'),
  approvalTimeoutMs: isPositive,
  roots: shape<ClientRoots>({ open: isFunction, timeoutMs: isPositive }, 'open'),
}

/** Users need time to answer; the default of the protocol is one minute. */
const APPROVAL_TIMEOUT = 30 * 60_000

/**
 * Creates a server of the Model Context Protocol over a workspace, for one client and any transport: tools with annotations, output
 * schemas, structured results, progress and cancellation. A refusal is a result with `isError`, code and hint as text, and the
 * complete refusal in `_meta['wardspace/failure']`. Approvals are requested from the client by elicitation if the workspace has no
 * `approve` and the client supports it; without an answer, the call ends with `APPROVAL_REQUIRED` and can be resumed. A workspace
 * with a `dialect` is served with the dialect's tools and results.
 *
 * @example
 * const server = createMcpServer(workspace)
 * await server.connect(new StdioServerTransport())
 */
export function createMcpServer(workspace: Workspace | DialectWorkspace, requested?: McpServerOptions): Server {
  const options = checkOptions<McpServerOptions>('createMcpServer()', requested, optionTable)
  const { name = 'wardspace', version = '0.1.0', run = workspace, approvalTimeoutMs = APPROVAL_TIMEOUT } = options
  const server = new Server(
    { name, version },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        prompts: {},
        completions: {},
        ...(options.roots === undefined ? {} : { logging: {} }),
      },
      // Models already know a dialect, and its tools describe themselves.
      ...('dialect' in workspace ? {} : { instructions: instructionsFor(workspace.tools) }),
      jsonSchemaValidator: formValidator,
      debouncedNotificationMethods: ['notifications/tools/list_changed', 'notifications/resources/list_changed'],
    },
  )
  const serving = createServedState({ workspace, run }, onReplaced)
  let stop = () => {}

  /** Subscribes to the served workspace. */
  function follow(serves: ServedOrReason): void {
    stop()
    stop = () => {}
    if ('failure' in serves) return
    let { mode } = serves.run
    stop = serves.workspace.subscribe((event) => {
      resources.onEvent(event)
      if (event.type === 'mode' && serves.run.mode !== mode) {
        mode = serves.run.mode
        ignoreClosed(server.sendToolListChanged())
      }
    })
  }

  const callOptions = createCallOptions(server, approvalTimeoutMs)
  const resources = serveResources(server, serving, callOptions)
  const roots = options.roots === undefined ? undefined : createRootsRequester(server, serving, options.roots)

  /** Called when another workspace is served. */
  async function onReplaced(serves: ServedOrReason): Promise<void> {
    follow(serves)
    ignoreClosed(server.sendToolListChanged())
    await resources.onReplaced(serves)
  }

  serveTools(server, serving, { callOptions, onResult: resources.addArtifacts })
  servePrompts(server, serving, callOptions)
  serveCompletions(server, serving, resources.artifacts)
  server.setNotificationHandler(InitializedNotificationSchema, () => {
    follow({ workspace, run })
    roots?.request()
    server.oninitialized?.()
  })
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => roots?.request())
  atEnd(server, () => stop())
  return server
}

/** Runs `act` when the connection ends, after the transport's own handler. */
function atEnd(server: Server, act: () => void): void {
  const { connect } = server
  server.connect = async (transport) => {
    const { onclose } = transport
    transport.onclose = () => {
      onclose?.()
      act()
    }
    await connect.call(server, transport)
  }
}
