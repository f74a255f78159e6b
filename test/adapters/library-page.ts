import { libraryRows } from './library-rows.ts'
import { type OpfsStorageName, opfsStorages } from './library-storages-opfs.ts'
import { type LibraryPlatform, type LibraryResult, runLibrary } from './run-library.ts'

/** The functions that a test calls in the page. */
export interface LibraryPageApi {
  run(library: string, storage: OpfsStorageName, url: string): Promise<LibraryResult>
}

/** Makes the function of the page, which {@link bundleLibraries} bundles with the libraries. */
export function startPage(platform: LibraryPlatform, http: unknown): void {
  const storages = opfsStorages(() => new Worker('/worker.js', { type: 'module' }))
  const api: LibraryPageApi = {
    async run(library, storage, url) {
      const row = libraryRows.find(({ name }) => name === library)
      if (row === undefined) throw new Error(`There is no library "${library}"`)
      return runLibrary(row, storages[storage], { ...platform, remote: { url, http } })
    },
  }
  Object.assign(globalThis, { api })
}
