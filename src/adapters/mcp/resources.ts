import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { Success } from '../../call/state/call.ts'
import type { WorkspaceEvent } from '../../call/state/events.ts'
import type { Failure } from '../../errors.ts'
import type { Asking } from './call-options.ts'
import { listResources, resourceTemplates } from './list-resources.ts'
import { readResource } from './read-resource.ts'
import { ignoreClosed, type ServedOrReason, type ServedState, served } from './served-workspace.ts'
import { createSubscriptions } from './subscriptions.ts'
import { parseResourceUri } from './uris.ts'

/** Artifacts that are listed: the latest. */
const MOST_ARTIFACTS = 50

/** What happens to a workspace, for the resources of a client. */
export interface ServedResources {
  /** The names of the latest artifacts. */
  artifacts(): readonly string[]
  happened(event: WorkspaceEvent): void
  /** A result of the client's own call: what it stored is listed from now on. */
  answered(result: Success | Failure): void
  /** Something else is served now, or nothing. */
  moved(serves: ServedOrReason): Promise<void>
}

/** Serves files, artifacts, the diff, the report and the policy as resources that a client may subscribe to. */
export function serveResources(server: Server, serving: ServedState, asking: Asking): ServedResources {
  const subscriptions = createSubscriptions()
  const artifacts = new Set<string>()
  // Who has never asked for a list need not hear that there is another one.
  let isListed = false

  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => resourceTemplates)
  server.setRequestHandler(ListResourcesRequestSchema, ({ params }, { signal }) =>
    serving.use((serves) => {
      isListed = true
      return listResources(served(serves), [...artifacts], params?.cursor, { signal })
    }),
  )
  server.setRequestHandler(ReadResourceRequestSchema, ({ params: { uri } }, extra) =>
    serving.use(async (serves) => ({
      contents: [await readResource(served(serves).run, uri, parseResourceUri(uri), asking(extra))],
    })),
  )
  server.setRequestHandler(SubscribeRequestSchema, ({ params: { uri } }, extra) =>
    serving.use(async (serves) => {
      await subscriptions.add(served(serves), uri, asking(extra))
      return {}
    }),
  )
  server.setRequestHandler(UnsubscribeRequestSchema, ({ params: { uri } }) => {
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
    happened(event) {
      if (event.type !== 'changed') return
      updated(subscriptions.concerned(event.paths))
      if (event.listing) listChanged()
    },
    answered({ artifactUri, outputUri }) {
      const found = [artifactUri, outputUri].filter((uri) => typeof uri === 'string' && !artifacts.has(uri))
      for (const uri of found as string[]) artifacts.add(uri)
      for (const uri of artifacts) if (artifacts.size > MOST_ARTIFACTS) artifacts.delete(uri)
      if (found.length > 0) listChanged()
    },
    async moved(serves) {
      artifacts.clear()
      if (!('failure' in serves)) updated(await subscriptions.moveTo(serves))
      listChanged()
    },
  }
}
