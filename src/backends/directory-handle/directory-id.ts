/**
 * Returns a stable id of a picked directory, which survives reloads. Browsers give it no unique name, but can compare two
 * handles; known handles are stored in IndexedDB of the origin, outside of the picked files.
 */
export async function directoryId(handle: FileSystemDirectoryHandle): Promise<string> {
  const database = await resultOf(openDatabase())
  try {
    const store = database.transaction(STORE, 'readonly').objectStore(STORE)
    const [keys, handles] = await Promise.all([resultOf(store.getAllKeys()), resultOf(store.getAll())])
    for (const [i, other] of (handles as FileSystemDirectoryHandle[]).entries()) {
      if (await handle.isSameEntry(other)) return String(keys[i])
    }
    return String(await resultOf(database.transaction(STORE, 'readwrite').objectStore(STORE).add(handle)))
  } finally {
    database.close()
  }
}

const STORE = 'directories'

function openDatabase(): IDBOpenDBRequest {
  const request = indexedDB.open('wardspace', 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { autoIncrement: true })
  return request
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
