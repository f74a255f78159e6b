import { memory } from 'wardspace/backends/memory'
import { git } from 'wardspace/git'
import { filesOf } from '../projects/files-of.ts'
import type { ProjectFile } from '../projects/types.ts'
import type { FromOutside, ToOutside } from './messages.ts'

/** So many files are told at a time. */
const AT_ONCE = 200

/** Clones a repository into memory by the library's git, and tells its files, those of `.git` with them. */
export async function clone(
  { url, corsProxy, ref, depth }: Extract<ToOutside, { kind: 'clone' }>,
  tell: (message: FromOutside) => void,
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
        tell({ kind: 'progress', phase, done: loaded, ...(total !== undefined && { total }) })
      },
    })
    .catch((error) => {
      throw understandable(error, url, corsProxy)
    })
  const files: ProjectFile[] = []
  for await (const file of filesOf(backend)) files.push(file)
  for (let from = 0; from < files.length; from += AT_ONCE) {
    tell({ kind: 'files', files: files.slice(from, from + AT_ONCE), total: files.length })
  }
  tell({ kind: 'end', warnings: skipped.map((path) => `Left out: "${path}", which a workspace cannot hold`) })
}

/** A browser does not tell a page why another server could not be read. */
function understandable(error: Error, url: string, corsProxy: string | undefined): Error {
  if (!error.message.includes('an unexpected failure')) return error
  const which =
    corsProxy === undefined ? 'it does not let other pages read it: a CORS proxy helps' : 'the proxy does not'
  return new Error(`Cannot clone ${url}: the server does not answer, or ${which}`)
}
