import type { Success } from '../../call/state/call.ts'
import type { WorkspaceEvent } from '../../call/state/events.ts'
import type { Failure } from '../../errors.ts'
import type { RequestOptions } from './call-options.ts'
import { listResources, resourceTemplates } from './list-resources.ts'
import { requireNoCursor } from './protocol-errors.ts'
import { readResource } from './read-resource.ts'
import type { Server } from './sdk.ts'
import { ignoreClosed, requireServed, type ServedOrReason, type ServedState } from './served-workspace.ts'
import { createSubscriptions } from './subscriptions.ts'
import { parseResourceUri } from './uris.ts'

/** Maximum number of listed artifacts. The latest are kept. */
const MAX_ARTIFACTS = 50

/** The resources of one client. */
export interface ServedResources {
  /** Returns the addresses of the latest artifacts. */
  artifacts(): readonly string[]
  onEvent(event: WorkspaceEvent): void
  /** Lists the artifacts of a result of the client. */
  addArtifacts(result: Success | Failure): void
  /** Called when another workspace is served, or none. */
  onReplaced(serves: ServedOrReason): Promise<void>
}

/** Serves files, artifacts, the diff, the report and the policy as resources that a client may subscribe to. */
export function serveResources(
  server: Server,
  serving: ServedState,
  { rounds, callOptions }: RequestOptions,
): ServedResources {
  const subscriptions = createSubscriptions()
  const artifacts = new Set<string>()
  // A client that has never requested the list is not notified of changes to it.
  let isListed = false

  server.setRequestHandler('resources/templates/list', ({ params }) => {
    requireNoCursor(params?.cursor)
    return resourceTemplates
  })
  server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
    serving.use((serves) => {
      isListed = true
      return listResources(requireServed(serves), [...artifacts], params?.cursor, { signal })
    }),
  )
  server.setRequestHandler('resources/read', ({ params: { uri } }, context) =>
    rounds.run(context, (request) =>
      serving.use(async (serves) => ({
        contents: [await readResource(requireServed(serves).run, uri, parseResourceUri(uri), callOptions(request))],
      })),
    ),
  )
  server.setRequestHandler('resources/subscribe', async ({ params: { uri } }, context) => {
    await rounds.run(context, (request) =>
      serving.use((serves) => subscriptions.add(requireServed(serves), uri, callOptions(request))),
    )
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    subscriptions.remove(uri)
    return {}
  })

  function updated(uris: readonly string[]): void {
    for (const uri of uris) ignoreClosed(server.sendResourceUpdated({ uri }))
  }

  function listChanged(): void {
    if (isListed) ignoreClosed(server.sendResourceListChanged())
  }

  return {
    artifacts: () => [...artifacts],
    onEvent(event) {
      if (event.type !== 'changed') return
      updated(subscriptions.affectedBy(event.paths))
      if (event.listing) listChanged()
    },
    addArtifacts({ artifactUri, outputUri }) {
      const added = [artifactUri, outputUri].filter((uri) => typeof uri === 'string' && !artifacts.has(uri))
      for (const uri of added as string[]) artifacts.add(uri)
      for (const uri of artifacts) if (artifacts.size > MAX_ARTIFACTS) artifacts.delete(uri)
      if (added.length > 0) listChanged()
    },
    async onReplaced(serves) {
      artifacts.clear()
      if (!('failure' in serves)) updated(await subscriptions.resolveIn(serves))
      listChanged()
    },
  }
}
