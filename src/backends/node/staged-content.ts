import { closeSync, constants, fchmodSync, fstatSync, openSync, read, renameSync, type Stats, write } from 'node:fs'
import { promisify } from 'node:util'
import { ToolError } from '../../errors.ts'
import { createSha256 } from '../../files/hash/sha256.ts'
import { type Path, parentOf, quote, ROOT } from '../../paths/logical-path.ts'
import type { ContentSink, StagedContent, StoredContent } from '../../storage/backend.ts'
import { storageError } from '../../storage/storage-error.ts'
import { isNoLongerThere } from './errno.ts'
import { concurrentChangeError, lstatAt, openPins, type Pins, tempPathOf } from './journal-steps.ts'
import { AT_ONCE_BYTES } from './read-content.ts'
import { removeTree } from './remove-tree.ts'
import { retryOnDescriptorLimit } from './retry-descriptors.ts'
import { adopt, fsyncAsync } from './staging.ts'
import type { StateDirectory, Temp } from './state-directory.ts'
import type { TreeAccess } from './tree-access.ts'

const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** The contents that one opening of a root has taken in parts. */
export class StagedContents {
  readonly #files = new Map<StoredContent, StagedFile>()
  readonly #open = new Set<StagedFile>()

  /** Creates the temporary file of a content, in the nearest directory above the path. */
  async open(access: TreeAccess, state: StateDirectory, path: Path): Promise<ContentSink> {
    const file = await retryOnDescriptorLimit(() => StagedFile.create(access, state, path))
    this.#open.add(file)
    const discard = async () => {
      this.#open.delete(file)
      file.discard()
    }
    return {
      write: (bytes) => failing(path, () => file.write(bytes)),
      discard: async () => {
        if (!file.isFinished) await discard()
      },
      finish: () =>
        failing(path, async () => {
          const content: StagedContent = {
            ...(await file.finish()),
            read: (start, end) => failing(path, () => file.read(start, end)),
            discard: async () => {
              this.#files.delete(content)
              await discard()
            },
          }
          this.#files.set(content, file)
          return content
        }),
    }
  }

  /** Whether a content is one of these, and no commit has put it in place. */
  has(content: StoredContent): boolean {
    return this.#files.has(content)
  }

  /** Gives a content the name of a temporary file of a commit. Returns the stat of the file. */
  async place(
    content: StoredContent,
    target: { readonly at: string; readonly path: Path; readonly mode: number | undefined },
    old: Stats | undefined,
    durable: boolean,
  ): Promise<Stats> {
    const file = this.#files.get(content) as StagedFile
    this.#files.delete(content)
    const stats = await file.place(target, old, durable)
    this.#open.delete(file)
    return stats
  }

  /** Removes what no commit has put in place. */
  discardAll(): void {
    for (const file of this.#open) file.discard()
    this.#open.clear()
    this.#files.clear()
  }
}

/** A content that is written under a temporary name. The descriptor stays open until it is in place or discarded. */
class StagedFile {
  readonly #access: TreeAccess
  readonly #state: StateDirectory
  readonly #temp: Temp
  /** The permission bits of a new file. */
  readonly #newMode: number
  readonly #hash = createSha256()
  #fd: number
  #size = 0
  #stats: Stats | undefined

  private constructor(access: TreeAccess, state: StateDirectory, temp: Temp, fd: number) {
    this.#access = access
    this.#state = state
    this.#temp = temp
    this.#fd = fd
    this.#newMode = fstatSync(fd).mode & 0o777
    // The file that it replaces may be private. It is empty until here.
    if (process.platform !== 'win32') fchmodSync(fd, 0o600)
  }

  static create(access: TreeAccess, state: StateDirectory, path: Path): StagedFile {
    const pins = openPins(access)
    try {
      const temp = state.nextTemp(homeOf(pins, path))
      state.hold(temp)
      let fd = -1
      try {
        fd = openSync(tempPathOf(pins, temp), FLAGS, 0o666)
        return new StagedFile(access, state, temp, fd)
      } catch (error) {
        if (fd !== -1) closeSync(fd)
        removeTree(tempPathOf(pins, temp))
        state.release(temp)
        throw error
      }
    } finally {
      pins.close()
    }
  }

  get isFinished(): boolean {
    return this.#stats !== undefined
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#requireOpen()
    this.#hash.update(bytes)
    for (let done = 0; done < bytes.length; ) {
      const length = Math.min(4 * AT_ONCE_BYTES, bytes.length - done)
      const { bytesWritten } = await promisify(write)(this.#fd, bytes, done, length, this.#size)
      if (bytesWritten <= 0) throw Object.assign(new Error('short write'), { code: 'ENOSPC' })
      done += bytesWritten
      this.#size += bytesWritten
    }
  }

  async finish(): Promise<StoredContent> {
    this.#requireOpen()
    await fsyncAsync(this.#fd)
    this.#stats = fstatSync(this.#fd)
    return { size: this.#size, sha256: this.#hash.digest() }
  }

  async read(start: number, end: number): Promise<Uint8Array> {
    this.#requireOpen()
    const from = Math.min(Math.max(0, start), this.#size)
    const bytes = new Uint8Array(Math.max(0, Math.min(end, this.#size) - from))
    for (let done = 0; done < bytes.length; ) {
      const { bytesRead } = await promisify(read)(this.#fd, bytes, done, bytes.length - done, from + done)
      if (bytesRead === 0) throw Object.assign(new Error('short read'), { code: 'EIO' })
      done += bytesRead
    }
    return bytes
  }

  async place(
    { at, path, mode }: { readonly at: string; readonly path: Path; readonly mode: number | undefined },
    old: Stats | undefined,
    durable: boolean,
  ): Promise<Stats> {
    this.#requireOpen()
    const bits = mode ?? (old?.isFile() ? old.mode & 0o777 : this.#newMode)
    const pins = openPins(this.#access)
    try {
      const from = await retryOnDescriptorLimit(() => tempPathOf(pins, this.#temp))
      const [before, now] = [this.#stats as Stats, fstatSync(this.#fd)]
      const isSame = now.size === this.#size && now.mtimeMs === before.mtimeMs && lstatAt(from)?.ino === now.ino
      if (!isSame) throw concurrentChangeError(path)
      if (adopt(this.#fd, now, bits & 0o777, old) && durable) await fsyncAsync(this.#fd)
      const stats = fstatSync(this.#fd)
      renameSync(from, at)
      this.#close()
      return stats
    } finally {
      pins.close()
    }
  }

  /** Removes the file. What cannot be removed stays in the log. */
  discard(): void {
    if (this.#fd === -1) return
    closeSync(this.#fd)
    this.#fd = -1
    const pins = openPins(this.#access)
    try {
      removeTree(tempPathOf(pins, this.#temp))
    } catch (error) {
      if (!isNoLongerThere(error)) return
    } finally {
      pins.close()
    }
    this.#state.release(this.#temp)
  }

  #close(): void {
    closeSync(this.#fd)
    this.#fd = -1
    this.#state.release(this.#temp)
  }

  #requireOpen(): void {
    if (this.#fd === -1) throw new ToolError('BACKEND_ERROR', 'Cannot continue: the content was discarded')
  }
}

/** Returns the nearest directory above a path. */
function homeOf(pins: Pins, path: Path): Path {
  for (let home = parentOf(path); home !== ROOT; home = parentOf(home)) {
    try {
      pins.get(home)
      return home
    } catch (error) {
      if (!isNoLongerThere(error)) throw error
    }
  }
  return ROOT
}

async function failing<T>(path: Path, action: () => Promise<T>): Promise<T> {
  try {
    return await action()
  } catch (error) {
    throw storageError('write', path, error)
  }
}

/** The error for a state that names a content which this storage does not have. */
export function unknownContent(path: Path): ToolError {
  return new ToolError('INVALID_INPUT', `Cannot write ${quote(path)}: its content is not stored here`, { path })
}
