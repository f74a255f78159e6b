import type { Backend, Path } from 'wardspace'
import type { ProjectFile } from './types.ts'

/** A file to export, with its modification time. */
export interface StoredFile extends ProjectFile {
  /** Milliseconds since 1970. */
  readonly modifiedAt?: number
}

/** Yields all files of a backend in sorted order, including `.git`. Directories are yielded only if they are empty. */
export async function* filesOf(backend: Backend, directory = '' as Path): AsyncGenerator<StoredFile> {
  for (const { name, type } of await backend.list(directory)) {
    const path = (directory === '' ? name : `${directory}/${name}`) as Path
    if (type === 'directory') {
      if ((await backend.list(path)).length === 0) yield { path, bytes: new Uint8Array(), isDirectory: true }
      else yield* filesOf(backend, path)
    } else if (type === 'link') yield { path, bytes: new Uint8Array(), target: await backend.readLink(path) }
    else if (type === 'file') {
      const { bytes, stat } = await backend.read(path)
      const { mode, modifiedAt } = stat
      yield { path, bytes, ...(mode !== undefined && { mode }), ...(modifiedAt !== undefined && { modifiedAt }) }
    }
  }
}
