import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { InitializedNotificationSchema, RootsListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../../workspace/create-workspace.ts'
import { createCallOptions } from './call-options.ts'
import { type ClientRoots, createRootsDesk } from './client-roots.ts'
import { serveCompletions } from './completions.ts'
import { formAnswers } from './form-validation.ts'
import { instructionsFor } from './instructions.ts'
import { servePrompts } from './prompts.ts'
import { serveResources } from './resources.ts'
import { createServedState, ignoreClosed, type ServedOrReason } from './served-workspace.ts'
import { serveTools } from './tools.ts'

/** What a server tells of itself, and whose calls it makes. */
export interface McpServerOptions {
  /** Default: `wardspace`. */
  readonly name?: string
  readonly version?: string
  /** The run that the client's calls belong to. Default: the workspace's own. */
  readonly run?: WorkspaceRun | DialectRun
  /** Milliseconds that the person at the client may take to answer a question. Default: half an hour. */
  readonly approvalTimeoutMs?: number
  /** Serves the directories that the client names as its roots, where it names any. Default: the workspace, whatever it names. */
  readonly roots?: ClientRoots
}

export type { ClientRoot, ClientRoots, RefusedRoot, RootsOpened } from './client-roots.ts'

/** A person may take a while; the protocol's own limit is a minute. */
const APPROVAL_TIMEOUT = 30 * 60_000

/**
 * A server of the Model Context Protocol over a workspace, for one client: tools with annotations, output schemas, structured
 * results, progress and cancellation. It speaks over whatever transport it is connected to. A refusal is a result with
 * `isError`, its code and its hint as text, and the whole of it under `_meta['wardspace/failure']`. What policy asks is
 * asked at the client, by elicitation, where the workspace has no `approve` of its own and the client can do that; where no
 * answer comes, the call ends with `APPROVAL_REQUIRED` and can be resumed. A workspace with a `dialect` is served with that
 * dialect's tools, in its own forms.
 *
 * @example
 * const server = createMcpServer(workspace)
 * await server.connect(new StdioServerTransport())
 */
export function createMcpServer(workspace: Workspace | DialectWorkspace, options: McpServerOptions = {}): Server {
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
      // A dialect is learnt elsewhere, and its tools say what they take.
      ...('dialect' in workspace ? {} : { instructions: instructionsFor(workspace.tools) }),
      jsonSchemaValidator: formAnswers,
      debouncedNotificationMethods: ['notifications/tools/list_changed', 'notifications/resources/list_changed'],
    },
  )
  const serving = createServedState({ workspace, run }, moved)
  let stop = () => {}

  /** Listens to what is served. */
  function follow(serves: ServedOrReason): void {
    stop()
    stop = () => {}
    if ('failure' in serves) return
    let { mode } = serves.run
    stop = serves.workspace.subscribe((event) => {
      resources.happened(event)
      if (event.type === 'mode' && serves.run.mode !== mode) {
        mode = serves.run.mode
        ignoreClosed(server.sendToolListChanged())
      }
    })
  }

  const asking = createCallOptions(server, approvalTimeoutMs)
  const resources = serveResources(server, serving, asking)
  const roots = options.roots === undefined ? undefined : createRootsDesk(server, serving, options.roots)

  /** Something else is served from now on. */
  async function moved(serves: ServedOrReason): Promise<void> {
    follow(serves)
    ignoreClosed(server.sendToolListChanged())
    await resources.moved(serves)
  }

  serveTools(server, serving, { asking, answered: resources.answered })
  servePrompts(server, serving, asking)
  serveCompletions(server, serving, resources.artifacts)
  server.setNotificationHandler(InitializedNotificationSchema, () => {
    follow({ workspace, run })
    roots?.ask()
    server.oninitialized?.()
  })
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => roots?.ask())
  atEnd(server, () => stop())
  return server
}

/** Does something when the connection ends, whatever its owner does then. */
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
