import { ToolError } from 'wardspace'

/** The folders that the person picked, by project: only IndexedDB keeps such a handle over a reload. */
export async function keepHandle(id: string, handle: FileSystemDirectoryHandle): Promise<void> {
  await within('readwrite', (store) => store.put(handle, id))
}

export async function forgetHandle(id: string): Promise<void> {
  await within('readwrite', (store) => store.delete(id))
}

export async function handleOf(id: string): Promise<FileSystemDirectoryHandle> {
  const handle = await within('readonly', (store) => store.get(id))
  if (handle !== undefined) return handle as FileSystemDirectoryHandle
  throw new ToolError('NOT_FOUND', 'Cannot open the folder: this browser no longer knows it', {
    hint: 'Pick the folder again.',
  })
}

const STORE = 'folders'

async function within<T>(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
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
