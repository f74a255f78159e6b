import type { Backend } from 'wardspace'
import { memory } from 'wardspace/backends/memory'
import { git } from 'wardspace/git'
import { zipOf } from './export-zip.ts'
import { filesOf } from './files-of.ts'
import { fill } from './fill.ts'
import type { Task } from './types.ts'

/**
 * Returns a project and its git repository as a zip. An existing repository is exported unchanged. Otherwise the export
 * creates one in a copy, with all files that git does not ignore in the first commit.
 */
export async function repositoryOf(
  backend: Backend,
  { name }: { readonly name: string },
  task: Task = {},
): Promise<Blob> {
  const entries = await backend.list('' as Parameters<Backend['list']>[0])
  if (entries.some((entry) => entry.name === '.git')) return zipOf(backend, task)
  const copy = memory()
  await fill(copy, { files: filesOf(backend) }, task)
  const repository = git().open({
    backend: copy,
    mayRead: () => true,
    change: async (changes) => void (await copy.commit(changes, { durability: 'relaxed' })),
    now: () => Date.now(),
  })
  await repository.init()
  await repository.add('.')
  await repository.commit({ message: `${name}, as exported` })
  return zipOf(copy, task)
}
