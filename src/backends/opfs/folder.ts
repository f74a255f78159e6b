import { ToolError } from '../../errors.ts'
import { childOf, display, nameOf, type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import type { DirectoryEntry, Stat } from '../../storage/backend.ts'
import { type PathVerb, wrongTypeAt } from '../../storage/wrong-type.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import { hasSyncHandles, retryWhileBusy, type SyncFile } from './handle-slots.ts'
import { storageFailure } from './storage-failure.ts'

/** What stands at a path of a folder. */
export type Entry =
  | { readonly type: 'directory'; readonly handle: FileSystemDirectoryHandle; readonly stat: Stat }
  | { readonly type: 'file'; readonly handle: FileSystemFileHandle; readonly file: File; readonly stat: Stat }

/** A directory and all below it, by logical paths. Handles are kept: to find each anew costs four times. */
export interface Folder {
  /** `undefined` where nothing is, or where a file stands in the way. */
  look(path: Path): Promise<Entry | undefined>
  /** Looks at many: where several are in one directory, that is listed once. */
  lookAtAll(paths: readonly Path[]): Promise<ReadonlyMap<Path, Entry | undefined>>
  /** Throws `NOT_FOUND` or `NOT_A_DIRECTORY`. */
  directory(path: Path, verb: PathVerb): Promise<FileSystemDirectoryHandle>
  /** Sorted by name. Throws `NOT_FOUND` or `NOT_A_DIRECTORY`. */
  list(path: Path, verb: PathVerb): Promise<DirectoryEntry[]>
  bytes(entry: Entry & { readonly type: 'file' }): Promise<Uint8Array>
  makeDirectory(path: Path): Promise<void>
  remove(path: Path): Promise<void>
  /** Forgets the handles at and below a path. */
  forget(path: Path): void
  /** Notes that a file was replaced, so that its tag is another even within one tick of the clock, and keeps its handle. */
  touched(path: Path, handle: FileSystemFileHandle): void
}

export interface FolderOptions {
  /** Whether only this origin can reach it: then nothing vanishes while the lease is held, and names are kept to the bit. */
  readonly isPrivate: boolean
}

export function openFolder(root: FileSystemDirectoryHandle, { isPrivate }: FolderOptions): Folder {
  const known = new Map<Path, FileSystemDirectoryHandle>()
  const files = new Map<Path, FileSystemFileHandle>()
  const touches = new Map<Path, number>()
  let leases = 0

  /** The handle of a directory; undefined where there is none. Throws what is no simple absence. */
  async function find(path: Path): Promise<FileSystemDirectoryHandle | undefined> {
    if (path === ROOT) return root
    return known.get(path) ?? findAnew(path)
  }

  async function findAnew(path: Path): Promise<FileSystemDirectoryHandle | undefined> {
    const above = await find(parentOf(path))
    const found = above && (await lookedUp(path, () => above.getDirectoryHandle(nameOf(path))))
    if (found?.handle !== undefined) known.set(path, found.handle)
    else known.delete(path)
    return found?.handle
  }

  /** The directory that a path is in, for a change there. */
  async function above(path: Path): Promise<FileSystemDirectoryHandle> {
    const found = await find(parentOf(path))
    if (found === undefined) throw new DOMException('The parent is gone', 'NotFoundError')
    return found
  }

  function forget(path: Path): void {
    if (path === ROOT) leases += 1
    for (const kept of [known, files]) {
      for (const one of kept.keys()) if (one === path || path === ROOT || one.startsWith(`${path}/`)) kept.delete(one)
    }
  }

  function keep(path: Path, handle: FileSystemFileHandle): void {
    if (files.size >= MOST_KEPT) files.clear()
    files.set(path, handle)
  }

  async function fileEntry(path: Path, handle: FileSystemFileHandle): Promise<Entry | undefined> {
    const { handle: file } = await lookedUp(path, () => handle.getFile())
    if (file === undefined) return undefined
    const tag = `${file.lastModified}.${file.size}.${leases}.${touches.get(path) ?? 0}`
    return { type: 'file', handle, file, stat: { type: 'file', size: file.size, modifiedAt: file.lastModified, tag } }
  }

  async function look(path: Path): Promise<Entry | undefined> {
    if (path === ROOT) return directoryEntry(root)
    const last = known.get(path)
    if (last !== undefined) {
      if (isPrivate) return directoryEntry(last)
      // What other programs can reach may be gone.
      const found = await findAnew(path)
      if (found !== undefined) return directoryEntry(found)
    }
    const kept = files.get(path)
    if (kept !== undefined) {
      const entry = await fileEntry(path, kept)
      if (entry !== undefined) return entry
      files.delete(path)
    }
    const above = await find(parentOf(path))
    if (above === undefined) return undefined
    const { handle, isOther } = await lookedUp(path, () => above.getFileHandle(nameOf(path)))
    if (handle !== undefined) {
      keep(path, handle)
      return fileEntry(path, handle)
    }
    const directory = isOther ? await findAnew(path) : undefined
    return directory && directoryEntry(directory)
  }

  /** What is in a directory, with the handles. */
  async function entriesOf(directory: FileSystemDirectoryHandle, path: Path): Promise<DirectoryEntry[]> {
    const found: DirectoryEntry[] = []
    for await (const [name, handle] of directory.entries()) {
      const isFile = handle.kind === 'file'
      if (isFile) keep(childOf(path, name), handle as FileSystemFileHandle)
      found.push({ name, type: isFile ? 'file' : 'directory' })
    }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  async function lookAtAll(paths: readonly Path[]): Promise<ReadonlyMap<Path, Entry | undefined>> {
    const found = new Map<Path, Entry | undefined>()
    const byParent = new Map<Path, Path[]>()
    for (const path of paths) {
      const siblings = byParent.get(parentOf(path))
      if (siblings === undefined) byParent.set(parentOf(path), [path])
      else siblings.push(path)
    }
    await mapConcurrent([...byParent], async ([parent, children]) => {
      const above = children.length > 1 ? await look(parent) : undefined
      let names: ReadonlySet<string> | undefined
      if (children.length > 1 && above?.type !== 'directory') names = new Set()
      else if (isPrivate && children.length >= WORTH_LISTING && above?.type === 'directory') {
        names = new Set((await entriesOf(above.handle, parent)).map(({ name }) => name))
      }
      await mapConcurrent(children, async (path) => {
        found.set(path, names === undefined || names.has(nameOf(path)) ? await look(path) : undefined)
      })
    })
    return found
  }

  const typeAt = async (path: Path) => (await look(path))?.type

  return {
    look,
    lookAtAll,
    forget,
    async directory(path, verb) {
      const entry = await look(path)
      if (entry?.type === 'directory') return entry.handle
      throw await wrongTypeAt(verb, path, typeAt)
    },
    list: async (path, verb) => {
      const entry = await look(path)
      if (entry?.type !== 'directory') throw await wrongTypeAt(verb, path, typeAt)
      return entriesOf(entry.handle, path)
    },
    bytes: (entry) => readWhole(entry, isPrivate),
    async makeDirectory(path) {
      known.set(path, await (await above(path)).getDirectoryHandle(nameOf(path), { create: true }))
    },
    async remove(path) {
      forget(path)
      touches.set(path, (touches.get(path) ?? 0) + 1)
      await lookedUp(path, async () => {
        const directory = await above(path)
        await retryWhileBusy(() => directory.removeEntry(nameOf(path)))
      })
    },
    touched(path, handle) {
      keep(path, handle)
      touches.set(path, (touches.get(path) ?? 0) + 1)
    },
  }
}

function directoryEntry(handle: FileSystemDirectoryHandle): Entry {
  return { type: 'directory', handle, stat: DIRECTORY_STAT }
}

const DIRECTORY_STAT: Stat = Object.freeze({ type: 'directory', size: 0, tag: 'directory' })

/** So many handles of files are kept at most. */
const MOST_KEPT = 4_096

/** From so many on, one listing costs less than to look for each. */
const WORTH_LISTING = 4

/** A synchronous handle reads faster; where another has the file open, a snapshot of it does as well. */
async function readWhole({ handle, file }: Entry & { readonly type: 'file' }, isPrivate: boolean): Promise<Uint8Array> {
  if (isPrivate && hasSyncHandles()) {
    try {
      const open = await (handle as SyncFile).createSyncAccessHandle({ mode: 'read-only' })
      try {
        const bytes = new Uint8Array(open.getSize())
        return bytes.subarray(0, open.read(bytes, { at: 0 }))
      } finally {
        open.close()
      }
    } catch {
      // Below.
    }
  }
  return new Uint8Array(await file.arrayBuffer())
}

/** What is absent gives nothing, nor does what is of another kind; a name that the storage does not take is refused. */
async function lookedUp<T>(
  path: Path,
  action: () => Promise<T>,
): Promise<{ readonly handle?: T; readonly isOther?: boolean }> {
  try {
    return { handle: await action() }
  } catch (error) {
    const { name } = error as { readonly name?: string }
    if (name === 'NotFoundError') return {}
    if (name === 'TypeMismatchError') return { isOther: true }
    if (name === 'TypeError') {
      throw new ToolError('PATH_REJECTED', `Path ${quote(path)} has a name that this storage does not take`, { path })
    }
    throw storageFailure(`Cannot look at ${quote(display(path))}`, error, path)
  }
}
