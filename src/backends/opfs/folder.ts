import { ToolError } from '../../errors.ts'
import { display, nameOf, type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import type { DirectoryEntry, Stat } from '../../vfs/backend.ts'
import { storageFailure } from './failure.ts'
import { hasSyncHandles, patiently, type SyncFile } from './handle-slots.ts'

/** What stands at a path of a folder. */
export type Entry =
  | { readonly type: 'directory'; readonly handle: FileSystemDirectoryHandle; readonly stat: Stat }
  | { readonly type: 'file'; readonly handle: FileSystemFileHandle; readonly file: File; readonly stat: Stat }

/** A directory and all below it, by logical paths. Handles of directories are kept: to find each anew costs four times. */
export interface Folder {
  /** `undefined` where nothing is, or where a file stands in the way. */
  look(path: Path): Promise<Entry | undefined>
  /** Throws `NOT_FOUND` or `NOT_A_DIRECTORY`. */
  directory(path: Path, verb: string): Promise<FileSystemDirectoryHandle>
  list(directory: FileSystemDirectoryHandle): Promise<DirectoryEntry[]>
  bytes(entry: Entry & { readonly type: 'file' }): Promise<Uint8Array>
  makeDirectory(path: Path): Promise<void>
  remove(path: Path): Promise<void>
  /** Forgets the handles at and below a path. */
  forget(path: Path): void
  /** Notes that a file was replaced, so that its tag is another even within one tick of the clock. */
  touched(path: Path): void
}

export function openFolder(root: FileSystemDirectoryHandle): Folder {
  const known = new Map<Path, FileSystemDirectoryHandle>()
  const touches = new Map<Path, number>()

  /** The handle of a directory; undefined where there is none. Throws what is no simple absence. */
  async function find(path: Path): Promise<FileSystemDirectoryHandle | undefined> {
    if (path === ROOT) return root
    const kept = known.get(path)
    if (kept !== undefined) return kept
    const above = await find(parentOf(path))
    const handle = above && (await orNothing(path, () => above.getDirectoryHandle(nameOf(path))))
    if (handle !== undefined) known.set(path, handle)
    return handle
  }

  function forget(path: Path): void {
    for (const one of known.keys()) if (one === path || path === ROOT || one.startsWith(`${path}/`)) known.delete(one)
  }

  async function look(path: Path): Promise<Entry | undefined> {
    const kept = path === ROOT ? root : known.get(path)
    if (kept !== undefined) return { type: 'directory', handle: kept, stat: DIRECTORY_STAT }
    const above = await find(parentOf(path))
    if (above === undefined) return undefined
    const handle = await orNothing(path, () => above.getFileHandle(nameOf(path)))
    if (handle !== undefined) {
      const file = await orNothing(path, () => handle.getFile())
      if (file === undefined) return undefined
      const tag = `${file.lastModified}.${file.size}.${touches.get(path) ?? 0}`
      return { type: 'file', handle, file, stat: { type: 'file', size: file.size, modifiedAt: file.lastModified, tag } }
    }
    const directory = await find(path)
    return directory && { type: 'directory', handle: directory, stat: DIRECTORY_STAT }
  }

  return {
    look,
    forget,
    async directory(path, verb) {
      const entry = await look(path)
      if (entry?.type === 'directory') return entry.handle
      throw await wrongType(look, verb, path, entry)
    },
    async list(directory) {
      const found: DirectoryEntry[] = []
      for await (const [name, { kind }] of directory.entries()) {
        found.push({ name, type: kind === 'directory' ? 'directory' : 'file' })
      }
      return found.sort((a, b) => (a.name < b.name ? -1 : 1))
    },
    bytes: readWhole,
    async makeDirectory(path) {
      const above = await find(parentOf(path))
      if (above === undefined) throw new DOMException('The parent is gone', 'NotFoundError')
      known.set(path, await above.getDirectoryHandle(nameOf(path), { create: true }))
    },
    async remove(path) {
      forget(path)
      touches.set(path, (touches.get(path) ?? 0) + 1)
      const above = await find(parentOf(path))
      if (above !== undefined) await orNothing(path, () => patiently(() => above.removeEntry(nameOf(path))))
    },
    touched(path) {
      touches.set(path, (touches.get(path) ?? 0) + 1)
    },
  }
}

/** The refusal of a read of something that is not there or of another type. */
export async function wrongType(
  look: Folder['look'],
  verb: string,
  path: Path,
  entry: Entry | undefined,
): Promise<ToolError> {
  const cannot = `Cannot ${verb} ${quote(display(path))}`
  if (entry !== undefined) {
    const code = entry.type === 'directory' ? 'IS_DIRECTORY' : verb === 'list' ? 'NOT_A_DIRECTORY' : 'INVALID_INPUT'
    return new ToolError(code, `${cannot}: it is a ${entry.type}`, { path })
  }
  for (let above = parentOf(path); above !== ROOT; above = parentOf(above)) {
    const type = (await look(above))?.type
    if (type === 'directory') break
    if (type === 'file') return new ToolError('NOT_A_DIRECTORY', `${cannot}: a part of the path is a file`, { path })
  }
  return new ToolError('NOT_FOUND', `${cannot}: it does not exist`, { path })
}

const DIRECTORY_STAT: Stat = Object.freeze({ type: 'directory', size: 0, tag: 'directory' })

/** A synchronous handle reads faster; where another has the file open, a snapshot of it does as well. */
async function readWhole({ handle, file }: Entry & { readonly type: 'file' }): Promise<Uint8Array> {
  if (hasSyncHandles()) {
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

/** What is absent, or of another kind, is nothing; a name that the storage does not take is refused. */
async function orNothing<T>(path: Path, action: () => Promise<T>): Promise<T | undefined> {
  try {
    return await action()
  } catch (error) {
    const { name } = error as { readonly name?: string }
    if (name === 'NotFoundError' || name === 'TypeMismatchError') return undefined
    if (name === 'TypeError') {
      throw new ToolError('PATH_REJECTED', `Path ${quote(path)} has a name that this storage does not take`, { path })
    }
    throw error instanceof ToolError ? error : storageFailure(`Cannot look at ${quote(display(path))}`, error, path)
  }
}
