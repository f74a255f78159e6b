/**
 * Which directory a person picked, over reloads: a browser gives it no name that tells it from others, but can say
 * whether two handles are of one directory. Kept in IndexedDB of the origin, outside of anybody's files.
 */
export async function directoryId(handle: FileSystemDirectoryHandle): Promise<string> {
  const database = await done(opened())
  try {
    const known = database.transaction(STORE, 'readonly').objectStore(STORE)
    const [keys, handles] = await Promise.all([done(known.getAllKeys()), done(known.getAll())])
    for (const [i, other] of (handles as FileSystemDirectoryHandle[]).entries()) {
      if (await handle.isSameEntry(other)) return String(keys[i])
    }
    return String(await done(database.transaction(STORE, 'readwrite').objectStore(STORE).add(handle)))
  } finally {
    database.close()
  }
}

const STORE = 'directories'

function opened(): IDBOpenDBRequest {
  const request = indexedDB.open('wardspace', 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE, { autoIncrement: true })
  return request
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
