import { nameOf, type Path, parentOf } from '../../paths/logical-path.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import type { Folder } from './folder.ts'
import { hasSyncHandles, retryWhileBusy, type SyncFile } from './handle-slots.ts'
import { decodeSteps, encodeSteps, type RedoStep } from './redo-log.ts'

/**
 * The private directory of a workspace of files: what a set will be is written here first, then a journal of the steps
 * that put it in place, and only then the steps are taken. Whoever takes the lease next finishes what a kill left.
 *
 * Where files can be written fast and be moved, each content is staged in a file of its own, and moved into place.
 * Otherwise the contents stand in the journal, and are written into place by streams, which replace a file at their end.
 */
export interface Staging {
  /** The step that will give a path this content. */
  stage(path: Path, bytes: Uint8Array): Promise<RedoStep>
  /** Whether a step, if it is the only one, happens or does not without a journal. */
  isWhole(step: RedoStep, isNew: boolean): boolean
  /** From here on the set will happen. */
  writeJournal(steps: readonly RedoStep[]): Promise<void>
  /** Takes a step; taken again, it changes nothing more. */
  take(step: RedoStep): Promise<void>
  /** The steps of a journal that was not cleared. */
  pending(): Promise<readonly RedoStep[]>
  /** Removes journal and whatever is staged. */
  clear(): Promise<void>
}

/** A handle that can be moved, where browsers have that. */
type Movable = FileSystemFileHandle & {
  move?(directory: FileSystemDirectoryHandle, name: string): Promise<void>
}

export function openStaging(state: FileSystemDirectoryHandle, folder: Folder, canMove: boolean): Staging {
  const moves = canMove && hasSyncHandles() && 'move' in FileSystemFileHandle.prototype
  let count = 0
  const staged = new Map<string, FileSystemFileHandle>()
  let hasJournal = false
  // What one who was here before may have left.
  let isUnknown = true

  async function drop(name: string): Promise<void> {
    await retryWhileBusy(() => state.removeEntry(name)).catch((error) => {
      if ((error as { name?: string }).name !== 'NotFoundError') throw error
    })
    staged.delete(name)
  }

  /** A staged file, or undefined where it is in place already. */
  async function find(name: string): Promise<FileSystemFileHandle | undefined> {
    const kept = staged.get(name)
    if (kept !== undefined) return kept
    try {
      return await state.getFileHandle(name)
    } catch (error) {
      if ((error as { name?: string }).name === 'NotFoundError') return undefined
      throw error
    }
  }

  async function place(path: Path, name: string): Promise<void> {
    const source = await find(name)
    if (source === undefined) return
    const directory = await folder.directory(parentOf(path), 'change')
    const movable = source as Movable
    if (canMove && movable.move !== undefined) {
      await retryWhileBusy(async () => movable.move?.(directory, nameOf(path)))
      staged.delete(name)
      // It is where it was moved to.
      folder.touched(path, source)
    } else await fill(path, await (await source.getFile()).arrayBuffer())
  }

  async function fill(path: Path, bytes: BufferSource): Promise<void> {
    const directory = await folder.directory(parentOf(path), 'change')
    const target = await directory.getFileHandle(nameOf(path), { create: true })
    await writeStream(target, bytes)
    folder.touched(path, target)
  }

  return {
    async stage(path, bytes) {
      if (!moves) return { do: 'content', path, bytes }
      count += 1
      const name = `staged-${count}`
      const handle = await state.getFileHandle(name, { create: true })
      staged.set(name, handle)
      await writeWhole(handle, bytes)
      return { do: 'file', path, staged: name }
    },
    // A file that is new is there, and empty, before its stream ends.
    isWhole: (step, isNew) => step.do !== 'content' || !isNew,
    async writeJournal(steps) {
      hasJournal = true
      await writeWhole(await state.getFileHandle(JOURNAL, { create: true }), encodeSteps(steps))
    },
    async take(step) {
      if (step.do === 'directory') return folder.makeDirectory(step.path)
      if (step.do === 'file') return place(step.path, step.staged)
      if (step.do === 'content') return fill(step.path, step.bytes as Uint8Array<ArrayBuffer>)
      const type = step.do === 'remove file' ? 'file' : 'directory'
      if ((await folder.look(step.path))?.type === type) await folder.remove(step.path)
    },
    async pending() {
      hasJournal = true
      try {
        const file = await (await state.getFileHandle(JOURNAL)).getFile()
        return decodeSteps(new Uint8Array(await file.arrayBuffer())) ?? []
      } catch (error) {
        if ((error as { name?: string }).name === 'NotFoundError') return []
        throw error
      }
    },
    async clear() {
      // The journal first: its steps may need what is staged.
      if (hasJournal) await drop(JOURNAL)
      if (isUnknown) {
        const names: string[] = []
        for await (const name of state.keys()) names.push(name)
        for (const name of names) await drop(name)
      } else await mapConcurrent([...staged.keys()], drop)
      hasJournal = false
      isUnknown = false
    },
  }
}

const JOURNAL = 'journal'

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

async function writeStream(handle: FileSystemFileHandle, bytes: BufferSource): Promise<void> {
  const stream = await handle.createWritable()
  try {
    await stream.write(bytes as ArrayBuffer)
    await stream.close()
  } catch (error) {
    await stream.abort().catch(() => {})
    throw error
  }
}
