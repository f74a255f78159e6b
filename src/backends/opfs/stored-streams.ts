import { ToolError } from '../../errors.ts'
import { createSha256 } from '../../files/hash/sha256.ts'
import { type Path, quote } from '../../paths/logical-path.ts'
import type { Change, ContentSink, StagedContent, StoredContent } from '../../storage/backend.ts'
import { hasSyncHandles, type SyncFile } from './handle-slots.ts'
import { storageFailure } from './storage-failure.ts'

const PREFIX = 'stream-'
const LOCK = 'wardspace content '

/** Characters of the name of a file. While it is written, a browser may have another one whose name is longer. */
const NAME_LENGTH = PREFIX.length + 36

/** Bytes of a file that are hashed at once. */
const PART_BYTES = 4 * 1024 * 1024

/** Where the bytes of a content go. */
interface Destination {
  write(bytes: Uint8Array): Promise<void>
  /** Stores everything, and closes the file. */
  finish(): Promise<void>
  abort(): Promise<void>
}

/**
 * The contents that this tab has taken in parts. Each is a file of the private directory whose name is also that of a Web Lock: a
 * file without a holder of its lock was left by a killed tab.
 */
export class StoredStreams {
  readonly #names = new Map<StoredContent, string>()
  readonly #open = new Set<() => Promise<void>>()

  async open(state: FileSystemDirectoryHandle, path: Path): Promise<ContentSink> {
    const failing = async <T>(action: () => Promise<T>): Promise<T> => {
      try {
        return await action()
      } catch (error) {
        throw storageFailure(`Cannot write ${quote(path)}`, error, path)
      }
    }
    const name = PREFIX + crypto.randomUUID()
    const release = await holdLock(name)
    const hash = createSha256()
    let size = 0
    let isFinished = false
    let isGone = false
    let destination: Destination | undefined
    const remove = async () => {
      if (isGone) return
      isGone = true
      this.#open.delete(remove)
      await destination?.abort().catch(() => {})
      await state.removeEntry(name).catch(() => {})
      release()
    }
    this.#open.add(remove)
    let handle: FileSystemFileHandle
    try {
      handle = await state.getFileHandle(name, { create: true })
      destination = await openDestination(handle)
    } catch (error) {
      await remove()
      throw error
    }
    return {
      write: (bytes) =>
        failing(async () => {
          hash.update(bytes)
          size += bytes.length
          await destination?.write(bytes)
        }),
      discard: async () => {
        if (!isFinished) await remove()
      },
      finish: () =>
        failing(async () => {
          await destination?.finish()
          destination = undefined
          isFinished = true
          const content: StagedContent = {
            ...{ size, sha256: hash.digest() },
            read: (start, end) => failing(async () => bytesOf((await handle.getFile()).slice(Math.max(0, start), end))),
            discard: async () => {
              this.#names.delete(content)
              await remove()
            },
          }
          this.#names.set(content, name)
          return content
        }),
    }
  }

  /** Returns the name of the file of a content that no commit has used, or `undefined` for any other content. */
  nameOf(content: StoredContent): string | undefined {
    return this.#names.get(content)
  }

  /** Refuses a content that is neither stored here nor that of a file which the set moves. */
  requireKnown(changes: readonly Change[]): void {
    const used = new Set<StoredContent>()
    const deleted = new Set(changes.filter(({ to }) => to === null).map(({ path }) => path))
    for (const { path, to, from } of changes) {
      if (to?.type !== 'file' || to.content === undefined) continue
      const isKnown = this.#names.has(to.content) || (from !== undefined && deleted.has(from))
      if (!isKnown || used.has(to.content)) {
        throw new ToolError('INVALID_INPUT', `Cannot write ${quote(path)}: its content is not stored here`, { path })
      }
      used.add(to.content)
    }
  }

  /** Ends the use of the contents of a set, which was committed or has failed. */
  drop(changes: readonly Change[]): void {
    for (const { to } of changes) if (to?.type === 'file' && to.content !== undefined) this.#names.delete(to.content)
  }

  async discardAll(): Promise<void> {
    for (const remove of [...this.#open]) await remove()
  }
}

/** Returns those names of files in the private directory that no living tab is writing. */
export async function withoutHeld(names: readonly string[]): Promise<readonly string[]> {
  if (!names.some((name) => name.startsWith(PREFIX))) return names
  const { held = [], pending = [] } = await navigator.locks.query()
  const locked = new Set([...held, ...pending].map(({ name }) => name))
  return names.filter((name) => !locked.has(LOCK + name.slice(0, NAME_LENGTH)))
}

/** Hashes a file part by part. */
export async function hashBlob(file: Blob): Promise<string> {
  const hash = createSha256()
  for (let at = 0; at < file.size; at += PART_BYTES) hash.update(await bytesOf(file.slice(at, at + PART_BYTES)))
  return hash.digest()
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer())
}

/** Takes the lock of a file. Returns the function that releases it. */
function holdLock(name: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    navigator.locks.request(LOCK + name, () => new Promise<void>((release) => resolve(release))).catch(reject)
  })
}

async function openDestination(handle: FileSystemFileHandle): Promise<Destination> {
  if (!hasSyncHandles()) {
    const stream = await handle.createWritable()
    return {
      write: (bytes) => stream.write(bytes as Uint8Array<ArrayBuffer>),
      finish: () => stream.close(),
      abort: () => stream.abort(),
    }
  }
  const open = await (handle as SyncFile).createSyncAccessHandle()
  let at = 0
  return {
    async write(bytes) {
      const count = open.write(bytes, { at })
      if (count < bytes.length) throw new DOMException('Only a part was written', 'QuotaExceededError')
      at += count
    },
    async finish() {
      open.flush()
      open.close()
    },
    abort: async () => open.close(),
  }
}
