import type { TakenMedia } from '../../files/media/types.ts'
import type { DialectWorkspace, Workspace } from '../../workspace/create-workspace.ts'
import { createCallOptions } from './call-options.ts'
import type { ClientRoots } from './client-roots.ts'
import { serveCompletions } from './completions.ts'
import { formValidator } from './form-validation.ts'
import { instructionsFor } from './instructions.ts'
import { servePrompts } from './prompts.ts'
import { serveResources } from './resources.ts'
import { createRootsRequester } from './roots-requester.ts'
import { createRounds } from './rounds.ts'
import { Server } from './sdk.ts'
import { createServedState, ignoreClosed, type Served, type ServedOrReason } from './served-workspace.ts'
import { serveTools } from './tools.ts'

/** How one connection is served. */
export interface ConnectionOptions {
  readonly name: string
  readonly version: string
  readonly approvalTimeoutMs: number
  readonly media: TakenMedia
  readonly roots: ClientRoots | undefined
  /** The version of the protocol: `modern` since 2026-07-28, without `initialize` and without requests of the server. */
  readonly era: 'legacy' | 'modern'
  /** Called when the client has confirmed the handshake. */
  readonly onInitialized: () => void
}

/** Creates the SDK's server of one connection. */
export function serveConnection(first: Served, options: ConnectionOptions): Server {
  const server = createServer(first.workspace, options)
  const serving = createServedState(first, onReplaced)
  let stop = () => {}

  /** Subscribes to the served workspace. */
  function follow(serves: ServedOrReason): void {
    stop()
    stop = () => {}
    if ('failure' in serves) return
    let { mode } = serves.run
    stop = serves.workspace.subscribe((event) => {
      resources.onEvent(event, serves.run)
      if (event.type === 'mode' && serves.run.mode !== mode) {
        mode = serves.run.mode
        ignoreClosed(server.sendToolListChanged())
      }
    })
  }

  /** Called when another workspace is served. */
  async function onReplaced(serves: ServedOrReason): Promise<void> {
    follow(serves)
    ignoreClosed(server.sendToolListChanged())
    await resources.onReplaced(serves)
  }

  const requests = {
    rounds: createRounds(server, options.era),
    callOptions: createCallOptions(options.approvalTimeoutMs, options.media),
  }
  const resources = serveResources(server, serving, requests)
  serveTools(server, serving, { ...requests, onResult: resources.addArtifacts })
  servePrompts(server, serving, requests)
  serveCompletions(server, serving, resources.artifacts)
  if (options.era === 'modern') follow(first)
  else {
    const roots = options.roots === undefined ? undefined : createRootsRequester(server, serving, options.roots)
    server.oninitialized = () => {
      follow(first)
      roots?.request()
      options.onInitialized()
    }
    server.setNotificationHandler('notifications/roots/list_changed', () => roots?.request())
  }
  const { onclose } = server
  server.onclose = () => {
    onclose?.()
    stop()
  }
  return server
}

function createServer(workspace: Workspace | DialectWorkspace, options: ConnectionOptions): Server {
  const { name, version, era, roots } = options
  return new Server(
    { name, version },
    {
      capabilities: {
        tools: { listChanged: true },
        // Since 2026-07-28 the SDK takes subscriptions by itself, without asking whether the client may read the file.
        resources: { ...(era === 'legacy' ? { subscribe: true } : {}), listChanged: true },
        prompts: {},
        completions: {},
        ...(roots === undefined || era === 'modern' ? {} : { logging: {} }),
      },
      // Models already know a dialect, and its tools describe themselves.
      ...('dialect' in workspace ? {} : { instructions: instructionsFor(workspace.tools) }),
      jsonSchemaValidator: formValidator,
      debouncedNotificationMethods: ['notifications/tools/list_changed', 'notifications/resources/list_changed'],
    },
  )
}
