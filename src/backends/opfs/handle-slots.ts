import type { Slot, Slots } from './slots.ts'

/** A file that is open for synchronous reads and writes. The DOM library of TypeScript lacks the type. */
export interface SyncHandle {
  read(bytes: Uint8Array, options: { readonly at: number }): number
  write(bytes: Uint8Array, options: { readonly at: number }): number
  truncate(size: number): void
  getSize(): number
  flush(): void
  close(): void
}

/** The handle of a file in a thread that supports synchronous access. */
export type SyncFile = FileSystemFileHandle & {
  createSyncAccessHandle(options?: { readonly mode: string }): Promise<SyncHandle>
}

/** Slots that stay open until `close`. */
export interface OpenedSlots {
  readonly slots: Slots
  close(): void
}

/** Whether this thread may open files for synchronous reads and writes, as dedicated workers may. */
export function hasSyncHandles(): boolean {
  return typeof FileSystemFileHandle !== 'undefined' && 'createSyncAccessHandle' in FileSystemFileHandle.prototype
}

/** Opens slots in two files of a directory through handles that stay open. */
export async function openSyncSlots(directory: FileSystemDirectoryHandle): Promise<OpenedSlots> {
  const first = await openHandle(directory, 0)
  let second: SyncHandle
  try {
    second = await openHandle(directory, 1)
  } catch (error) {
    first.close()
    throw error
  }
  const handles = [first, second] as const
  return {
    slots: {
      size: async (slot) => handles[slot].getSize(),
      async read(slot, at, length) {
        const bytes = new Uint8Array(Math.max(0, Math.min(length, handles[slot].getSize() - at)))
        return bytes.subarray(0, handles[slot].read(bytes, { at }))
      },
      async write(slot, at, bytes, flush) {
        const byteCount = handles[slot].write(bytes, { at })
        if (byteCount < bytes.length) throw new DOMException('Only a part was written', 'QuotaExceededError')
        if (flush) handles[slot].flush()
      },
      truncate: async (slot, size) => handles[slot].truncate(size),
      flush: async (slot) => handles[slot].flush(),
    },
    close() {
      for (const handle of handles) handle.close()
    },
  }
}

/**
 * Opens slots through writable streams. Each write copies the file and replaces it, so it takes time in proportion to the
 * size of the file.
 */
export async function openAsyncSlots(directory: FileSystemDirectoryHandle): Promise<OpenedSlots> {
  const files = [await slotFile(directory, 0), await slotFile(directory, 1)] as const
  const change = async (slot: Slot, write: (stream: FileSystemWritableFileStream) => Promise<void>) => {
    const stream = await files[slot].createWritable({ keepExistingData: true })
    try {
      await write(stream)
      await stream.close()
    } catch (error) {
      await stream.abort().catch(() => {})
      throw error
    }
  }
  return {
    slots: {
      size: async (slot) => (await files[slot].getFile()).size,
      async read(slot, at, length) {
        const file = await files[slot].getFile()
        return new Uint8Array(await file.slice(at, at + length).arrayBuffer())
      },
      write: (slot, at, bytes) =>
        change(slot, (stream) => stream.write({ type: 'write', position: at, data: bytes as Uint8Array<ArrayBuffer> })),
      truncate: (slot, size) => change(slot, (stream) => stream.truncate(size)),
      // Closing a stream has already written the file.
      flush: async () => {},
    },
    close() {},
  }
}

function slotFile(directory: FileSystemDirectoryHandle, slot: Slot): Promise<FileSystemFileHandle> {
  return directory.getFileHandle(`journal-${slot}`, { create: true })
}

async function openHandle(directory: FileSystemDirectoryHandle, slot: Slot): Promise<SyncHandle> {
  const file = (await slotFile(directory, slot)) as SyncFile
  return retryWhileBusy(() => file.createSyncAccessHandle())
}

/** A terminated worker releases its file handles slightly later than its lock, so opening is retried. */
export async function retryWhileBusy<T>(open: () => Promise<T>): Promise<T> {
  for (let waited = 0; ; waited += PAUSE_MS) {
    try {
      return await open()
    } catch (error) {
      const { name } = error as { readonly name?: string }
      const isBusy = name === 'NoModificationAllowedError' || name === 'InvalidStateError'
      if (!isBusy || waited >= MAX_WAIT_MS) throw error
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
}

const PAUSE_MS = 20
const MAX_WAIT_MS = 3_000
