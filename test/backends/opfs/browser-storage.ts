import { vi } from 'vitest'

/**
 * Simulates the storage of a browser in memory: handles of files and directories, and Web Locks. `around` simulates
 * rare events: it is called before each step, with the name of the step and of the file or directory.
 */
export interface BrowserStorage {
  readonly root: FileSystemDirectoryHandle
  around: (step: string, name: string) => unknown
  /** The content of a file, by its path with slashes. */
  bytes(path: string): Uint8Array | undefined
  /** The names in a directory. */
  names(path: string): readonly string[]
  /** Changes it like another program. */
  put(path: string, bytes: Uint8Array): void
  remove(path: string): void
}

export interface BrowserParts {
  /** Whether synchronous handles exist, as in a worker, and files can be moved. */
  readonly sync?: boolean
  readonly locks?: LockManager | undefined
  readonly storage?: object
}

interface Node {
  readonly entries?: Map<string, Node>
  readonly name: string
  content: Uint8Array<ArrayBuffer>
  at: number
  isGone?: boolean
}

/** Installs the parts until `vi.unstubAllGlobals()`. */
export function browserStorage({ sync = false, storage = {}, ...rest }: BrowserParts = {}): BrowserStorage {
  const locks = 'locks' in rest ? rest.locks : webLocks()
  let ticks = 0
  const top = node('', true)
  const reported: BrowserStorage = {
    root: directory(top),
    around: () => undefined,
    bytes: (path) => find(path)?.content,
    names: (path) => [...(find(path)?.entries?.keys() ?? [])],
    put(path, bytes) {
      let at = top
      const names = path.split('/')
      for (const [i, name] of names.entries()) {
        const next = at.entries?.get(name) ?? node(name, i < names.length - 1)
        at.entries?.set(name, next)
        at = next
      }
      change(at, bytes.slice())
    },
    remove(path) {
      const cut = path.lastIndexOf('/')
      const gone = find(path)
      if (gone !== undefined) gone.isGone = true
      find(path.slice(0, cut))?.entries?.delete(path.slice(cut + 1))
    },
  }
  vi.stubGlobal('navigator', {
    locks,
    storage: { getDirectory: async () => reported.root, estimate: async () => ({ usage: 1, quota: 2 }), ...storage },
  })
  const prototype = sync ? { createSyncAccessHandle() {}, move() {} } : {}
  vi.stubGlobal('FileSystemFileHandle', { prototype })
  return reported

  function find(path: string): Node | undefined {
    return path.split('/').reduce<Node | undefined>((at, name) => at?.entries?.get(name), top)
  }

  function node(name: string, isDirectory: boolean): Node {
    return { name, content: new Uint8Array(), at: 0, ...(isDirectory && { entries: new Map() }) }
  }

  function change(file: Node, content: Uint8Array<ArrayBuffer>): void {
    file.content = content
    file.at = ++ticks
  }

  function directory(of: Node): FileSystemDirectoryHandle {
    const entries = of.entries as Map<string, Node>
    const child = async (step: string, name: string, create: boolean | undefined, isDirectory: boolean) => {
      await reported.around(step, name)
      if (of.isGone) throw new DOMException('absent', 'NotFoundError')
      const present = entries.get(name)
      if (present === undefined && !create) throw new DOMException('absent', 'NotFoundError')
      if (present !== undefined && (present.entries !== undefined) !== isDirectory) {
        throw new DOMException('other', 'TypeMismatchError')
      }
      const match = present ?? node(name, isDirectory)
      entries.set(name, match)
      return match
    }
    return {
      kind: 'directory',
      isSameEntry: async (other: { readonly of?: Node }) => other.of === of,
      of,
      name: of.name,
      getDirectoryHandle: async (name: string, options?: { create?: boolean }) =>
        directory(await child('getDirectoryHandle', name, options?.create, true)),
      getFileHandle: async (name: string, settings?: { create?: boolean }) =>
        file(await child('getFileHandle', name, settings?.create, false), entries),
      async removeEntry(name: string) {
        await reported.around('removeEntry', name)
        const present = entries.get(name)
        if (present === undefined) throw new DOMException('absent', 'NotFoundError')
        if ((present.entries?.size ?? 0) > 0) throw new DOMException('not empty', 'InvalidModificationError')
        entries.delete(name)
      },
      async *keys() {
        yield* entries.keys()
      },
      async *entries() {
        for (const [name, one] of entries) yield [name, one.entries ? directory(one) : file(one, entries)]
      },
    } as unknown as FileSystemDirectoryHandle
  }

  function file(of: Node, within: Map<string, Node>): FileSystemFileHandle {
    const handle = {
      kind: 'file',
      name: of.name,
      async getFile() {
        await reported.around('getFile', of.name)
        if (within.get(of.name) !== of) throw new DOMException('absent', 'NotFoundError')
        return new File([of.content], of.name, { lastModified: of.at })
      },
      async createWritable({ keepExistingData = false } = {}) {
        await reported.around('createWritable', of.name)
        let next = keepExistingData ? of.content : new Uint8Array()
        return {
          async write(
            data: Uint8Array | ArrayBuffer | Blob | { readonly position: number; readonly data: Uint8Array },
          ) {
            await reported.around('write', of.name)
            if (data instanceof Blob) next = withBytes(next, 0, new Uint8Array(await data.arrayBuffer()))
            else if (data instanceof ArrayBuffer || data instanceof Uint8Array)
              next = withBytes(next, 0, new Uint8Array(data))
            else if ('data' in data) next = withBytes(next, data.position, data.data)
          },
          async truncate(size: number) {
            next = cut(next, size)
          },
          async close() {
            await reported.around('closeWritable', of.name)
            change(of, next)
          },
          async abort() {
            await reported.around('abort', of.name)
          },
        }
      },
    }
    if (!sync) return handle as unknown as FileSystemFileHandle
    return {
      ...handle,
      async createSyncAccessHandle() {
        await reported.around('createSyncAccessHandle', of.name)
        return {
          getSize: () => of.content.length,
          read(bytes: Uint8Array, { at }: { readonly at: number }) {
            const part = of.content.subarray(at, at + bytes.length)
            bytes.set(part)
            return part.length
          },
          write(bytes: Uint8Array, { at }: { readonly at: number }) {
            const maximum = reported.around('writeSync', of.name)
            const part = typeof maximum === 'number' ? bytes.subarray(0, maximum) : bytes
            change(of, withBytes(of.content, at, part))
            return part.length
          },
          truncate: (size: number) => change(of, cut(of.content, size)),
          flush: () => reported.around('flush', of.name),
          close: () => reported.around('closeSync', of.name),
        }
      },
      async move(into: FileSystemDirectoryHandle, name: string) {
        await reported.around('move', name)
        const target = (await into.getFileHandle(name, { create: true })) as FileSystemFileHandle
        const stream = await target.createWritable()
        await stream.write(of.content)
        await stream.close()
        within.delete(of.name)
      },
    } as unknown as FileSystemFileHandle
  }
}

interface LockSettings {
  readonly signal: AbortSignal
}
type LockTask = () => Promise<unknown>

/** Locks with one holder at a time, in order of the requests. */
export function webLocks(): LockManager {
  const last = new Map<string, Promise<unknown>>()
  const held = new Set<string>()
  return {
    async request(name: string, settings: LockSettings | LockTask, ofSettings?: LockTask) {
      const task = typeof settings === 'function' ? settings : (ofSettings as LockTask)
      const { signal } = typeof settings === 'function' ? new AbortController() : settings
      const before = last.get(name) ?? Promise.resolve()
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')), { once: true })
      })
      let done: () => void = () => {}
      last.set(
        name,
        before.then(() => new Promise<void>((resolve) => (done = resolve))),
      )
      try {
        await Promise.race([before, aborted])
      } catch (error) {
        void before.then(() => done())
        throw error
      }
      held.add(name)
      return task().finally(() => {
        held.delete(name)
        done()
      })
    },
    query: async () => ({ held: [...held].map((name) => ({ name })), pending: [] }),
  } as unknown as LockManager
}

function withBytes(into: Uint8Array, at: number, bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(Math.max(into.length, at + bytes.length))
  grown.set(into)
  grown.set(bytes, at)
  return grown
}

function cut(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const grown = new Uint8Array(size)
  grown.set(bytes.subarray(0, size))
  return grown
}

/** The database of picked directories: one store with ascending keys. */
export function pickedDirectories(): void {
  const directories: FileSystemDirectoryHandle[] = []
  const answered = (result: unknown) => {
    const request = { result, onsuccess: () => {}, onupgradeneeded: () => {} }
    queueMicrotask(() => {
      request.onupgradeneeded()
      request.onsuccess()
    })
    return request
  }
  const store = {
    getAllKeys: () => answered(directories.map((_, i) => i + 1)),
    getAll: () => answered([...directories]),
    add: (handle: FileSystemDirectoryHandle) => answered(directories.push(handle)),
  }
  const database = { createObjectStore() {}, transaction: () => ({ objectStore: () => store }), close() {} }
  vi.stubGlobal('indexedDB', { open: () => answered(database) })
}
