import { contextOfFiles } from '../../call/files-context.ts'
import type { Success } from '../../call/state/call.ts'
import type { WorkspaceEvent } from '../../call/state/events.ts'
import { watchVisibility } from '../../call/watch-visibility.ts'
import type { Failure } from '../../errors.ts'
import { classifyPath } from '../../files/classify/index.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { RequestOptions } from './call-options.ts'
import { listResources, resourceTemplates } from './list-resources.ts'
import { requireNoCursor } from './protocol-errors.ts'
import { readResource } from './read-resource.ts'
import type { Server } from './sdk.ts'
import {
  ignoreClosed,
  requireServed,
  type ServedOrReason,
  type ServedRun,
  type ServedState,
} from './served-workspace.ts'
import { createSubscriptions } from './subscriptions.ts'
import { parseResourceUri } from './uris.ts'

/** Maximum number of listed artifacts. The latest are kept. */
const MAX_ARTIFACTS = 50

/** The resources of one client. */
export interface ServedResources {
  /** Returns the addresses of the latest artifacts. */
  artifacts(): readonly string[]
  onEvent(event: WorkspaceEvent, run: ServedRun): void
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
    onEvent(event, run) {
      if (event.type !== 'changed') return
      const isShown = showsAny(run, event.paths)
      updated(subscriptions.affectedBy(event.paths, isShown))
      if (event.listing && isShown) listChanged()
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

/** Whether a run may list one of the paths that changed, or what git stores did: its commits change the diff. */
function showsAny({ files }: ServedRun, paths: readonly string[] | undefined): boolean {
  const context = contextOfFiles.get(files)
  if (paths === undefined || context === undefined) return true
  const { see } = watchVisibility(context.workspace, context.run, '.')
  return paths.some((path) => see(path as Path, 'file') || classifyPath(path as Path).protection === 'git')
}
