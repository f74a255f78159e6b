import { memory } from 'wardspace/backends/memory'
import { git } from 'wardspace/git'
import { filesOf } from '../projects/files-of.ts'
import type { ProjectFile } from '../projects/types.ts'
import type { FromOutside, ToOutside } from './messages.ts'
import { isOffline, OFFLINE } from './offline.ts'

/** Files per message. */
const BATCH_SIZE = 200

/** Clones a repository into memory with the library's git, and sends its files, including `.git`. */
export async function clone(
  { url, corsProxy, ref, depth }: Extract<ToOutside, { kind: 'clone' }>,
  send: (message: FromOutside) => void,
): Promise<void> {
  const backend = memory()
  const repository = git().open({
    backend,
    mayRead: () => true,
    change: async (changes) => void (await backend.commit(changes, { durability: 'relaxed' })),
    now: () => Date.now(),
  })
  const { skipped } = await repository
    .clone(url, {
      ...(corsProxy !== undefined && { corsProxy }),
      ...(ref !== undefined && { ref }),
      ...(depth !== undefined && { depth }),
      onProgress({ phase, loaded, total }) {
        send({ kind: 'progress', phase, done: loaded, ...(total !== undefined && { total }) })
      },
    })
    .catch((error) => {
      throw explainFailure(error, url, corsProxy)
    })
  const files: ProjectFile[] = []
  for await (const file of filesOf(backend)) files.push(file)
  for (let from = 0; from < files.length; from += BATCH_SIZE) {
    send({ kind: 'files', files: files.slice(from, from + BATCH_SIZE), total: files.length })
  }
  send({ kind: 'end', warnings: skipped.map((path) => `Left out: "${path}", which a workspace cannot hold`) })
}

/** Explains a failed request, since browsers do not reveal the reason to a page. */
function explainFailure(error: Error, url: string, corsProxy: string | undefined): Error {
  if (isOffline()) return new Error(`Cannot clone ${url}: ${OFFLINE}`)
  if (!error.message.includes('cannot be reached')) return error
  const reason =
    corsProxy === undefined ? 'it does not let other pages read it: a CORS proxy helps' : 'the proxy does not'
  return new Error(`Cannot clone ${url}: the server does not answer, or ${reason}`)
}
