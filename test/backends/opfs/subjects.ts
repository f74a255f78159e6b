import { directoryHandle } from '../../../src/backends/directory-handle/index.ts'
import { type OpfsOptions, opfs } from '../../../src/backends/opfs/index.ts'
import type { BackendSubject } from '../../../src/testing/index.ts'

/** Empty backends in the origin private file system, by name. Each call creates one in its own directory. */
export type Subjects = Readonly<Record<string, () => Promise<BackendSubject>>>

/** Subjects that a page can open. `worker` starts `src/backends/opfs/worker.ts`, since no bundle is next to it. */
export function pageSubjects(worker?: () => Worker): Subjects {
  return {
    'OPFS packed, page over worker': workspace({ ...(worker !== undefined && { worker }), access: 'sync' }),
    'OPFS packed, page': workspace({ access: 'async' }),
    'OPFS files, page': workspace({ layout: 'files' }),
    'directory handle, page': folder,
  }
}

/** Subjects that a dedicated worker can open. */
export function workerSubjects(): Subjects {
  return {
    'OPFS packed, worker': workspace({ access: 'sync' }),
    'OPFS files, worker': workspace({ layout: 'files' }),
  }
}

/** A name that is unique in this origin. */
export function freshName(): string {
  return `test-${crypto.randomUUID()}`
}

/** Removes a closed workspace. */
export async function removeWorkspace(name: string): Promise<void> {
  const all = await (await navigator.storage.getDirectory()).getDirectoryHandle('wardspace')
  await all.removeEntry(name, { recursive: true })
}

/** The directory with the files of a workspace in the layout `files`. */
export async function filesOf(name: string): Promise<FileSystemDirectoryHandle> {
  const all = await (await navigator.storage.getDirectory()).getDirectoryHandle('wardspace')
  return (await all.getDirectoryHandle(name)).getDirectoryHandle('files')
}

/** Writes a file as other code of the page does. */
export async function writeBeside(root: FileSystemDirectoryHandle, path: string, text: string): Promise<void> {
  const names = path.split('/')
  let directory = root
  for (const name of names.slice(0, -1)) directory = await directory.getDirectoryHandle(name)
  const stream = await (await directory.getFileHandle(String(names.at(-1)), { create: true })).createWritable()
  await stream.write(text)
  await stream.close()
}

function workspace(options: OpfsOptions) {
  return async (): Promise<BackendSubject> => {
    const name = freshName()
    const open = () => opfs({ ...options, name, persist: false })
    const backend = await open()
    const files = options.layout === 'files' ? await filesOf(name) : undefined
    const beside = files && { writeBeside: (path: string, text: string) => writeBeside(files, path, text) }
    return { backend, physical: name, reopen: open, dispose: () => removeWorkspace(name), ...beside }
  }
}

async function folder(): Promise<BackendSubject> {
  const name = freshName()
  const root = await navigator.storage.getDirectory()
  const handle = await root.getDirectoryHandle(name, { create: true })
  const open = () => directoryHandle(handle, { caseSensitive: true })
  return {
    backend: await open(),
    physical: name,
    reopen: open,
    writeBeside: (path, text) => writeBeside(handle, path, text),
    dispose: () => root.removeEntry(name, { recursive: true }),
  }
}
