import type { CallOptions } from '../../call/state/call.ts'
import { promptPaths } from './prompts.ts'
import type { CompleteResult, Server } from './sdk.ts'
import { ownCalls, requireServed, type ServedRun, type ServedState } from './served-workspace.ts'
import { artifactTemplate, fileTemplate } from './uris.ts'

/** Maximum number of values in one answer, as the protocol requires. */
const MAX_VALUES = 100

/** Serves completion of listed paths and of artifact names. */
export function serveCompletions(server: Server, serving: ServedState, artifacts: () => readonly string[]): void {
  server.setRequestHandler('completion/complete', ({ params: { ref, argument } }, { mcpReq: { signal } }) =>
    serving.use(async (serves) => {
      const { run } = requireServed(serves)
      const isPath =
        ref.type === 'ref/prompt'
          ? promptPaths.has(`${ref.name} ${argument.name}`)
          : ref.uri === fileTemplate && argument.name === 'path'
      if (isPath) return completion(await pathsFrom(run, argument.value, { signal }))
      if (ref.type === 'ref/prompt' || ref.uri !== artifactTemplate) return completion([])
      const names = artifacts().map((uri) => uri.slice(uri.lastIndexOf('/') + 1))
      const all = argument.name === 'run' ? [run.id] : argument.name === 'name' ? names : []
      return completion(all.filter((name) => name.startsWith(argument.value)))
    }),
  )
}

/** Returns the readable entries of the directory in `text` that start with `text`. A directory ends in "/". */
async function pathsFrom(run: ServedRun, text: string, options: CallOptions): Promise<string[]> {
  const slash = text.lastIndexOf('/')
  const input = {
    path: slash === -1 ? '.' : text.slice(0, slash),
    maxEntries: 500,
    // Hidden names only if the typed name starts with a dot.
    includeHidden: text.startsWith('.', slash + 1),
    includeIgnored: true,
  }
  const listing = await ownCalls(run).call<'list_directory'>('list_directory', input, options)

  if (!listing.ok) return []
  return listing.entries
    .filter(({ path, readable }) => readable !== false && path.startsWith(text))
    .map(({ path, type }) => (type === 'directory' ? `${path}/` : path))
}

function completion(values: readonly string[]): CompleteResult {
  return {
    completion: { values: values.slice(0, MAX_VALUES), total: values.length, hasMore: values.length > MAX_VALUES },
  }
}
