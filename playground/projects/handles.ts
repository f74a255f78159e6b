import { ToolError } from 'wardspace'

/** Stores the folder that the person picked for a project. Only IndexedDB keeps such a handle over a reload. */
export async function keepHandle(id: string, handle: FileSystemDirectoryHandle): Promise<void> {
  await inStore('readwrite', (store) => store.put(handle, id))
}

export async function forgetHandle(id: string): Promise<void> {
  await inStore('readwrite', (store) => store.delete(id))
}

export async function handleOf(id: string): Promise<FileSystemDirectoryHandle> {
  const handle = await inStore('readonly', (store) => store.get(id))
  if (handle !== undefined) return handle as FileSystemDirectoryHandle
  throw new ToolError('NOT_FOUND', 'Cannot open the folder: this browser no longer knows it', {
    hint: 'Pick the folder again.',
  })
}

const STORE = 'folders'

async function inStore<T>(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const opening = indexedDB.open('wardspace-playground', 1)
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE)
  const database = await done(opening)
  try {
    return await done(use(database.transaction(STORE, mode).objectStore(STORE)))
  } finally {
    database.close()
  }
}

function done<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}
