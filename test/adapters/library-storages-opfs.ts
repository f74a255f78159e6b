import { opfs } from '../../src/backends/opfs/index.ts'
import type { Path } from '../../src/paths/logical-path.ts'
import type { Change } from '../../src/storage/backend.ts'
import { freshName, removeWorkspace } from '../backends/opfs/subjects.ts'
import type { LibraryStorage } from './run-library.ts'

/** The storages of a page on which libraries run: both layouts. A bundle starts the worker itself. */
export const opfsStorages = (worker?: () => Worker) => ({
  'OPFS packed': inLayout('packed', worker),
  'OPFS files': inLayout('files', worker),
})

export type OpfsStorageName = keyof ReturnType<typeof opfsStorages>

function inLayout(layout: 'packed' | 'files', worker?: () => Worker): LibraryStorage {
  return {
    async open(files) {
      const name = freshName()
      const ofPacked = { access: 'sync', ...(worker !== undefined && { worker }) } as const
      const backend = await opfs({ name, layout, ...(layout === 'packed' && ofPacked) })
      await backend.commit(changesFor(files), { durability: 'durable' })
      return { backend, remove: () => removeWorkspace(name) }
    },
  }
}

/** Creates files and the directories above them. */
function changesFor(files: Readonly<Record<string, string>>): Change[] {
  const directories = new Set<string>()
  for (const path of Object.keys(files)) {
    for (let end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) directories.add(path.slice(0, end))
  }
  const encoder = new TextEncoder()
  return [
    ...[...directories].map((path): Change => ({ path: path as Path, expect: 'absent', to: { type: 'directory' } })),
    ...Object.entries(files).map(
      ([path, text]): Change => ({
        path: path as Path,
        expect: 'absent',
        to: { type: 'file', bytes: encoder.encode(text) },
      }),
    ),
  ]
}
