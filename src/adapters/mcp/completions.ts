import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CompleteRequestSchema, type CompleteResult } from '@modelcontextprotocol/sdk/types.js'
import type { CallOptions } from '../../call/state/call.ts'
import { promptPaths } from './prompts.ts'
import { ownCalls, type ServedRun, type ServedState, served } from './served-workspace.ts'
import { artifactTemplate, fileTemplate } from './uris.ts'

/** Values in one answer: the protocol's own limit. */
const MOST = 100

/** Completes paths, as far as a listing shows them, and the names of artifacts. */
export function serveCompletions(server: Server, serving: ServedState, artifacts: () => readonly string[]): void {
  server.setRequestHandler(CompleteRequestSchema, ({ params: { ref, argument } }, { signal }) =>
    serving.use(async (serves) => {
      const { run } = served(serves)
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

/** What stands in the directory that the text names so far, and begins like the rest of it; a directory ends in "/". */
async function pathsFrom(run: ServedRun, text: string, options: CallOptions): Promise<string[]> {
  const slash = text.lastIndexOf('/')
  const input = {
    path: slash === -1 ? '.' : text.slice(0, slash),
    maxEntries: 500,
    // Hidden names only for those who begin one.
    includeHidden: text.startsWith('.', slash + 1),
    includeIgnored: true,
  }
  const listed = await ownCalls(run).call<'list_directory'>('list_directory', input, options)

  if (!listed.ok) return []
  return listed.entries
    .filter(({ path, readable }) => readable !== false && path.startsWith(text))
    .map(({ path, type }) => (type === 'directory' ? `${path}/` : path))
}

function completion(values: readonly string[]): CompleteResult {
  return { completion: { values: values.slice(0, MOST), total: values.length, hasMore: values.length > MOST } }
}
