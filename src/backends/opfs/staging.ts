import { nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import type { Folder } from './folder.ts'
import { hasSyncHandles, retryWhileBusy, type SyncFile } from './handle-slots.ts'
import { decodeSteps, encodeSteps, type RedoStep } from './redo-log.ts'
import { withoutHeld } from './stored-streams.ts'

const JOURNAL = 'journal'

/** A handle that can be moved, in browsers that support it. */
type Movable = FileSystemFileHandle & {
  move?(directory: FileSystemDirectoryHandle, name: string): Promise<void>
}

/**
 * The private directory of a workspace of files. A commit first writes its contents here, then a journal of the steps that
 * put them in place, and only then applies the steps. The next holder of the lease completes what a kill interrupted.
 *
 * Where files can be written fast and moved, each content is staged in a file of its own and moved into place. Otherwise
 * the journal contains the contents, and streams write them into place, which replace a file when they are closed.
 */
export class Staging {
  private readonly state: FileSystemDirectoryHandle
  private readonly folder: Folder
  private readonly canMove: boolean
  private readonly stagesFiles: boolean
  private readonly staged = new Map<string, FileSystemFileHandle>()
  /** The names of the files that were moved out of their places. */
  private readonly kept = new Map<Path, string>()
  private count = 0
  private hasJournal = false
  /** Whether the directory may contain files of an earlier holder of the lease. */
  private mayHaveLeftovers = true

  constructor(state: FileSystemDirectoryHandle, folder: Folder, canMove: boolean) {
    this.state = state
    this.folder = folder
    this.canMove = canMove
    this.stagesFiles = canMove && hasSyncHandles() && 'move' in FileSystemFileHandle.prototype
  }

  /** Stages a content. Returns the step that puts it at the path. */
  async stage(path: Path, bytes: Uint8Array): Promise<RedoStep> {
    if (!this.stagesFiles) return { do: 'content', path, bytes }
    this.count += 1
    const name = `staged-${this.count}`
    const handle = await this.state.getFileHandle(name, { create: true })
    this.staged.set(name, handle)
    await writeWhole(handle, bytes)
    return { do: 'file', path, staged: name }
  }

  /** Stages a copy of a file. Returns the name of the copy. */
  async stageFile(file: File): Promise<string> {
    this.count += 1
    const name = `staged-${this.count}`
    const handle = await this.state.getFileHandle(name, { create: true })
    this.staged.set(name, handle)
    await writeStream(handle, file)
    return name
  }

  /** Moves a file out of its place until the set is applied, if the storage can. */
  async keep(path: Path): Promise<void> {
    const entry = await this.folder.look(path)
    if (!this.canMove || entry?.type !== 'file') return
    const movable = entry.handle as Movable
    if (movable.move === undefined) return
    this.count += 1
    const name = `staged-${this.count}`
    await retryWhileBusy(async () => movable.move?.(this.state, name))
    this.folder.forget(path)
    this.kept.set(path, name)
  }

  /** Moves a kept file back. @throws Error if it was not kept */
  async restore(path: Path): Promise<void> {
    const name = this.kept.get(path)
    if (name === undefined) throw new DOMException('The file was not kept', 'InvalidStateError')
    this.kept.delete(path)
    await this.moveStaged(path, name)
  }

  /** The private directory. */
  get directory(): FileSystemDirectoryHandle {
    return this.state
  }

  /** Whether a single step is atomic without a journal. A stream creates a new file, empty, before it is closed. */
  isAtomic(step: RedoStep, isNew: boolean): boolean {
    return step.do !== 'content' || !isNew
  }

  /** Writes the journal. From here on, the set will be applied, also after a kill. */
  async writeJournal(steps: readonly RedoStep[]): Promise<void> {
    this.hasJournal = true
    await writeWhole(await this.state.getFileHandle(JOURNAL, { create: true }), encodeSteps(steps))
  }

  /** Applies a step. Idempotent. */
  async apply(step: RedoStep): Promise<void> {
    const { folder } = this
    if (step.do === 'directory') return folder.makeDirectory(step.path)
    if (step.do === 'file') return this.moveStaged(step.path, step.staged)
    if (step.do === 'content') return this.writeContent(step.path, step.bytes as Uint8Array<ArrayBuffer>)
    const type = step.do === 'remove file' ? 'file' : 'directory'
    if ((await folder.look(step.path))?.type === type) await folder.remove(step.path)
  }

  /** The steps of a journal that was not cleared. */
  async pending(): Promise<readonly RedoStep[]> {
    this.hasJournal = true
    try {
      const file = await (await this.state.getFileHandle(JOURNAL)).getFile()
      return decodeSteps(new Uint8Array(await file.arrayBuffer())) ?? []
    } catch (error) {
      if ((error as { name?: string }).name === 'NotFoundError') return []
      throw error
    }
  }

  /** Removes the journal and all staged files. */
  async clear(): Promise<void> {
    // The journal first: its steps may need the staged files.
    if (this.hasJournal) await this.drop(JOURNAL)
    if (this.mayHaveLeftovers) {
      const names: string[] = []
      for await (const name of this.state.keys()) names.push(name)
      for (const name of await withoutHeld(names)) await this.drop(name)
    } else await mapConcurrent([...this.staged.keys(), ...this.kept.values()], (name) => this.drop(name))
    this.kept.clear()
    this.hasJournal = false
    this.mayHaveLeftovers = false
  }

  private async drop(name: string): Promise<void> {
    await retryWhileBusy(() => this.state.removeEntry(name)).catch((error) => {
      if ((error as { name?: string }).name !== 'NotFoundError') throw error
    })
    this.staged.delete(name)
  }

  /** Returns a staged file, or undefined if it is already in place. */
  private async find(name: string): Promise<FileSystemFileHandle | undefined> {
    const handle = this.staged.get(name)
    if (handle !== undefined) return handle
    try {
      return await this.state.getFileHandle(name)
    } catch (error) {
      if ((error as { name?: string }).name === 'NotFoundError') return undefined
      throw error
    }
  }

  private async moveStaged(path: Path, name: string): Promise<void> {
    const source = await this.find(name)
    if (source === undefined) return
    const directory = await this.folder.directory(parentOf(path), 'change')
    const movable = source as Movable
    if (!this.canMove || movable.move === undefined) {
      return this.writeContent(path, await source.getFile())
    }
    await retryWhileBusy(async () => movable.move?.(directory, nameOf(path)))
    this.staged.delete(name)
    // The handle now refers to the new location.
    this.folder.replaced(path, source)
  }

  private async writeContent(path: Path, bytes: BufferSource | Blob): Promise<void> {
    const directory = await this.folder.directory(parentOf(path), 'change')
    const target = await directory.getFileHandle(nameOf(path), { create: true })
    await writeStream(target, bytes)
    this.folder.replaced(path, target)
  }
}

async function writeWhole(handle: FileSystemFileHandle, bytes: Uint8Array): Promise<void> {
  if (!hasSyncHandles()) return writeStream(handle, bytes as Uint8Array<ArrayBuffer>)
  const open = await retryWhileBusy(() => (handle as SyncFile).createSyncAccessHandle())
  try {
    open.truncate(0)
    if (open.write(bytes, { at: 0 }) < bytes.length) {
      throw new DOMException('Only a part was written', 'QuotaExceededError')
    }
    open.flush()
  } finally {
    open.close()
  }
}

/** Writes bytes, or a file, which the browser copies. */
async function writeStream(handle: FileSystemFileHandle, bytes: BufferSource | Blob): Promise<void> {
  const stream = await handle.createWritable()
  try {
    await stream.write(bytes as ArrayBuffer)
    await stream.close()
  } catch (error) {
    await stream.abort().catch(() => {})
    throw error
  }
}
