import { ToolError } from 'wardspace'
import { isMissing } from './private-storage.ts'
import type { ByteStore } from './types.ts'

/** Stores bytes by name. */
interface Store {
  read(name: string): Promise<Uint8Array | undefined>
  write(name: string, bytes: Uint8Array): Promise<void>
  remove(name: string): Promise<void>
  names(): Promise<readonly string[]>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * A store in a directory of the browser's private storage, with one file per name.
 *
 * @param check throws if the directory itself is gone
 */
export function directoryByteStore(
  directory: FileSystemDirectoryHandle,
  mayWrite: () => boolean,
  check: () => Promise<void>,
): ByteStore {
  return createByteStore(filesIn(directory, check), mayWrite)
}

/** A store in memory, which lasts as long as this page. */
export function memoryByteStore(bytes = new Map<string, Uint8Array>()): ByteStore {
  return createByteStore({
    read: async (name) => bytes.get(name),
    write: async (name, content) => void bytes.set(name, content),
    remove: async (name) => void bytes.delete(name),
    names: async () => [...bytes.keys()].sort(),
  })
}

function createByteStore(store: Store, mayWrite = (): boolean => true): ByteStore {
  /** The latest bytes to write, by name. */
  const waiting = new Map<string, () => Uint8Array>()
  /** The writes in progress, by name. */
  const running = new Map<string, Promise<void>>()

  async function run(name: string): Promise<void> {
    try {
      for (let next = waiting.get(name); next !== undefined; next = waiting.get(name)) {
        waiting.delete(name)
        await store.write(name, next())
      }
    } finally {
      running.delete(name)
    }
  }

  function put(name: string, make: () => Uint8Array): Promise<void> {
    if (!mayWrite()) return Promise.reject(new ToolError('READ_ONLY', 'Cannot save: another tab has the project'))
    waiting.set(name, make)
    const current = running.get(name)
    if (current !== undefined) return current
    const next = run(name)
    running.set(name, next)
    return next
  }

  return {
    async load<T>(name: string) {
      const bytes = await store.read(name)
      // A page that was closed during its first save leaves an empty file.
      return bytes === undefined || bytes.length === 0 ? undefined : (JSON.parse(decoder.decode(bytes)) as T)
    },
    save(name, value) {
      // Serialized now, since the value may change before it is written.
      const text = JSON.stringify(value)
      return put(name, () => encoder.encode(text))
    },
    loadBytes: (name) => store.read(name),
    saveBytes: (name, bytes) => put(name, () => bytes),
    async remove(name) {
      waiting.delete(name)
      await running.get(name)
      await store.remove(name)
    },
    names: () => store.names(),
    async settled() {
      await Promise.all(running.values())
    },
    handOver() {},
  }
}

/** Stores one file per name. The old content stays until the new content is complete. */
function filesIn(directory: FileSystemDirectoryHandle, check: () => Promise<void>): Store {
  return {
    async read(name) {
      try {
        const file = await (await directory.getFileHandle(fileName(name))).getFile()
        return new Uint8Array(await file.arrayBuffer())
      } catch (error) {
        if (!isMissing(error)) throw error
        await check()
        return undefined
      }
    },
    async write(name, bytes) {
      await check()
      const handle = await directory.getFileHandle(fileName(name), { create: true })
      const stream = await handle.createWritable()
      await stream.write(bytes as Uint8Array<ArrayBuffer>)
      await stream.close()
    },
    async remove(name) {
      await directory.removeEntry(fileName(name)).catch((error) => {
        if (!isMissing(error)) throw error
      })
    },
    async names() {
      const names: string[] = []
      for await (const name of directory.keys()) names.push(decodeURIComponent(name))
      return names.sort()
    },
  }
}

/** Returns a name that every file system accepts. */
function fileName(name: string): string {
  return encodeURIComponent(name).replaceAll('*', '%2A')
}
