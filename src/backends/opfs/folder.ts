import { ToolError } from '../../errors.ts'
import { ancestorsOf, childOf, display, nameOf, type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import type { DirectoryEntry, Stat } from '../../storage/backend.ts'
import { type PathVerb, wrongType } from '../../storage/wrong-type.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import { HandleCache } from './handle-cache.ts'
import { hasSyncHandles, retryWhileBusy, type SyncFile } from './handle-slots.ts'
import { storageFailure } from './storage-failure.ts'

/** The entry at a path of a folder. */
export type Entry =
  | { readonly type: 'directory'; readonly handle: FileSystemDirectoryHandle; readonly stat: Stat }
  | { readonly type: 'file'; readonly handle: FileSystemFileHandle; readonly file: File; readonly stat: Stat }

export interface FolderOptions {
  /** Whether only this origin can reach it. Then nothing vanishes while the lease is held, and names are stored exactly. */
  readonly isPrivate: boolean
}

/** From this number of siblings on, one listing costs less than a look-up of each. */
const MIN_LISTED = 4

const DIRECTORY_STAT: Stat = Object.freeze({ type: 'directory', size: 0, tag: 'directory' })

/** A directory and everything below it, by logical paths. */
export class Folder {
  private readonly root: FileSystemDirectoryHandle
  private readonly isPrivate: boolean
  private readonly handles = new HandleCache()
  /** Number of replacements of each file. It is part of the tag, because two changes can fall into one tick of the clock. */
  private readonly replacements = new Map<Path, number>()
  /** How many times the lease was acquired: part of every tag. */
  private leases = 0

  constructor(root: FileSystemDirectoryHandle, { isPrivate }: FolderOptions) {
    this.root = root
    this.isPrivate = isPrivate
  }

  /** Returns `undefined` if the path is absent or has a file for an ancestor. */
  async look(path: Path): Promise<Entry | undefined> {
    if (path === ROOT) return directoryEntry(this.root)
    const cachedDirectory = this.handles.directory(path)
    if (cachedDirectory !== undefined) {
      if (this.isPrivate) return directoryEntry(cachedDirectory)
      // Another program may have removed it.
      const directory = await this.findUncached(path)
      if (directory !== undefined) return directoryEntry(directory)
    }
    const cachedFile = this.handles.file(path)
    if (cachedFile !== undefined) {
      const entry = await this.fileEntry(path, cachedFile)
      if (entry !== undefined) return entry
      this.handles.deleteFile(path)
    }
    const parent = await this.find(parentOf(path))
    if (parent === undefined) return undefined
    const { handle, isOtherType } = await lookUp(path, () => parent.getFileHandle(nameOf(path)))
    if (handle !== undefined) {
      this.handles.setFile(path, handle)
      return this.fileEntry(path, handle)
    }
    const directory = isOtherType ? await this.findUncached(path) : undefined
    return directory && directoryEntry(directory)
  }

  /** Looks at many paths. A directory with several of them is listed once. */
  async lookAtAll(paths: readonly Path[]): Promise<ReadonlyMap<Path, Entry | undefined>> {
    const entries = new Map<Path, Entry | undefined>()
    await mapConcurrent([...groupByParent(paths)], async ([parent, children]) => {
      const names = await this.namesFor(parent, children)
      await mapConcurrent(children, async (path) => {
        entries.set(path, names === undefined || names.has(nameOf(path)) ? await this.look(path) : undefined)
      })
    })
    return entries
  }

  /** @throws ToolError `NOT_FOUND` or `NOT_A_DIRECTORY` */
  async directory(path: Path, verb: PathVerb): Promise<FileSystemDirectoryHandle> {
    const entry = await this.look(path)
    if (entry?.type === 'directory') return entry.handle
    throw await wrongTypeAt(this, verb, path, entry)
  }

  /**
   * Lists a directory, sorted by name.
   *
   * @throws ToolError `NOT_FOUND` or `NOT_A_DIRECTORY`
   */
  async list(path: Path, verb: PathVerb): Promise<DirectoryEntry[]> {
    return this.entriesOf(await this.directory(path, verb), path)
  }

  bytes(entry: Entry & { readonly type: 'file' }): Promise<Uint8Array> {
    return readWhole(entry, this.isPrivate)
  }

  async makeDirectory(path: Path): Promise<void> {
    const parent = await this.parent(path)
    this.handles.setDirectory(path, await parent.getDirectoryHandle(nameOf(path), { create: true }))
  }

  async remove(path: Path): Promise<void> {
    this.forget(path)
    this.countReplacement(path)
    await lookUp(path, async () => {
      const parent = await this.parent(path)
      await retryWhileBusy(() => parent.removeEntry(nameOf(path)))
    })
  }

  /** Drops the handles at and below a path. */
  forget(path: Path): void {
    if (path === ROOT) this.leases += 1
    this.handles.forget(path)
  }

  /** Notes that a file was replaced, so that its tag changes even within one tick of the clock. */
  replaced(path: Path, handle: FileSystemFileHandle): void {
    this.handles.setFile(path, handle)
    this.countReplacement(path)
  }

  private countReplacement(path: Path): void {
    this.replacements.set(path, (this.replacements.get(path) ?? 0) + 1)
  }

  /** The handle of a directory, or undefined. Throws failures other than absence. */
  private async find(path: Path): Promise<FileSystemDirectoryHandle | undefined> {
    if (path === ROOT) return this.root
    return this.handles.directory(path) ?? this.findUncached(path)
  }

  private async findUncached(path: Path): Promise<FileSystemDirectoryHandle | undefined> {
    const parent = await this.find(parentOf(path))
    const result = parent && (await lookUp(path, () => parent.getDirectoryHandle(nameOf(path))))
    this.handles.setDirectory(path, result?.handle)
    return result?.handle
  }

  /** The directory that contains a path. Throws `NotFoundError` if it is absent. */
  private async parent(path: Path): Promise<FileSystemDirectoryHandle> {
    const parent = await this.find(parentOf(path))
    if (parent === undefined) throw new DOMException('The parent is gone', 'NotFoundError')
    return parent
  }

  private async fileEntry(path: Path, handle: FileSystemFileHandle): Promise<Entry | undefined> {
    const { handle: file } = await lookUp(path, () => handle.getFile())
    if (file === undefined) return undefined
    const tag = `${file.lastModified}.${file.size}.${this.leases}.${this.replacements.get(path) ?? 0}`
    return { type: 'file', handle, file, stat: { type: 'file', size: file.size, modifiedAt: file.lastModified, tag } }
  }

  /** The names in a directory if they are worth listing for the children, or if it is absent; otherwise `undefined`. */
  private async namesFor(parent: Path, children: readonly Path[]): Promise<ReadonlySet<string> | undefined> {
    if (children.length < 2) return undefined
    const entry = await this.look(parent)
    if (entry?.type !== 'directory') return new Set()
    if (!this.isPrivate || children.length < MIN_LISTED) return undefined
    return new Set((await this.entriesOf(entry.handle, parent)).map(({ name }) => name))
  }

  /** Lists a directory and caches the handles of its files. */
  private async entriesOf(directory: FileSystemDirectoryHandle, path: Path): Promise<DirectoryEntry[]> {
    const entries: DirectoryEntry[] = []
    for await (const [name, handle] of directory.entries()) {
      const isFile = handle.kind === 'file'
      if (isFile) this.handles.setFile(childOf(path, name), handle as FileSystemFileHandle)
      entries.push({ name, type: isFile ? 'file' : 'directory' })
    }
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  }
}

/** Returns the error for a path that is absent or has another type, after looking up its ancestors. */
export async function wrongTypeAt(
  folder: Folder,
  verb: PathVerb,
  path: Path,
  entry: Entry | undefined,
): Promise<ToolError> {
  const types = new Map<Path, Entry['type'] | undefined>([[path, entry?.type]])
  for (const ancestor of entry === undefined ? ancestorsOf(path) : []) {
    const type = (await folder.look(ancestor))?.type
    types.set(ancestor, type)
    if (type !== undefined) break
  }
  return wrongType(verb, path, (at) => types.get(at))
}

function directoryEntry(handle: FileSystemDirectoryHandle): Entry {
  return { type: 'directory', handle, stat: DIRECTORY_STAT }
}

function groupByParent(paths: readonly Path[]): Map<Path, Path[]> {
  const byParent = new Map<Path, Path[]>()
  for (const path of paths) {
    const siblings = byParent.get(parentOf(path))
    if (siblings === undefined) byParent.set(parentOf(path), [path])
    else siblings.push(path)
  }
  return byParent
}

/** Reads a file through a synchronous handle, which is faster; if another tab has the file open, from a snapshot. */
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
      // Reads the snapshot.
    }
  }
  return new Uint8Array(await file.arrayBuffer())
}

/** Returns no handle for an absent path or another type. Throws `PATH_REJECTED` for a name that the storage refuses. */
async function lookUp<T>(
  path: Path,
  action: () => Promise<T>,
): Promise<{ readonly handle?: T; readonly isOtherType?: boolean }> {
  try {
    return { handle: await action() }
  } catch (error) {
    const { name } = error as { readonly name?: string }
    if (name === 'NotFoundError') return {}
    if (name === 'TypeMismatchError') return { isOtherType: true }
    if (name === 'TypeError') {
      throw new ToolError('PATH_REJECTED', `Path ${quote(path)} contains a name that this storage does not support`, {
        path,
      })
    }
    throw storageFailure(`Cannot look at ${quote(display(path))}`, error, path)
  }
}
