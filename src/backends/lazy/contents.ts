import { ToolError } from '../../errors.ts'
import { sha256Async } from '../../files/hash/sha256.ts'
import { display, type Path, quote } from '../../paths/logical-path.ts'
import { storageError } from '../../storage/storage-error.ts'
import { anySignal, throwIfAborted } from '../../util/abort.ts'
import { isUint8Array } from '../../util/bytes.ts'
import { counted } from '../../util/counted.ts'
import { createLruCache } from '../../util/lru-cache.ts'
import { runAfter } from '../../util/timers.ts'
import { MAX_TARGET_BYTES } from './listing.ts'
import type { LazyContent, LazyEntry, LazySource, LoadOptions } from './source.ts'

/** Bounds of a source's calls. */
export interface LoadBounds {
  readonly cacheBytes: number
  readonly concurrency: number
  readonly timeoutMs: number
  readonly signal: AbortSignal | undefined
}

/** Calls a source, each call with a time limit, until it is closed. */
export class SourceCalls {
  readonly #timeoutMs: number
  readonly #closed = new AbortController()
  /** Aborts when the source is closed, or the given signal aborts. */
  readonly #ended: AbortSignal

  constructor({ timeoutMs, signal }: LoadBounds) {
    this.#timeoutMs = timeoutMs
    this.#ended = anySignal(this.#closed.signal, signal)
  }

  close(): void {
    this.#closed.abort()
  }

  /** Returns what the action returns. Ends with it, or as soon as the signal aborts or the time is over. */
  async run<T>(verb: string, path: Path, action: (options: LoadOptions) => Promise<T>): Promise<T> {
    throwIfAborted(this.#ended, CANCELLED)
    const timeout = new AbortController()
    const timer = runAfter(this.#timeoutMs, () => timeout.abort())
    const either = anySignal(this.#ended, timeout.signal)
    let stop = (): void => undefined
    const stopped = new Promise<never>((_, reject) => {
      stop = () => reject(new Error('The call was stopped'))
      either.addEventListener('abort', stop, { once: true })
    })
    try {
      return await Promise.race([action({ signal: either }), stopped])
    } catch (error) {
      throwIfAborted(this.#ended, CANCELLED)
      if (!timeout.signal.aborted) throw storageError(verb, path, error)
      const target = display(path)
      throw new ToolError('BACKEND_ERROR', `Cannot ${verb} ${quote(target)}: no answer within ${this.#timeoutMs} ms`, {
        path: target,
      })
    } finally {
      clearTimeout(timer)
      either.removeEventListener('abort', stop)
    }
  }
}

const CANCELLED = 'Cannot read the files: the source is closed, or its signal was aborted'

/** The contents of a source: loaded once for all readers, checked, and kept within a number of bytes. */
export class Contents<E extends LazyEntry> {
  readonly #source: LazySource<E>
  readonly #calls: SourceCalls
  readonly #bounds: LoadBounds
  readonly #cache
  readonly #loading = new Map<Path, Promise<Uint8Array>>()
  readonly #waiting: (() => void)[] = []
  #running = 0
  #runningBytes = 0

  constructor(source: LazySource<E>, calls: SourceCalls, bounds: LoadBounds) {
    this.#source = source
    this.#calls = calls
    this.#bounds = bounds
    this.#cache = createLruCache<Path, Uint8Array>(bounds.cacheBytes, ({ length }) => length)
  }

  /** Returns the content of a listed entry. */
  async read(path: Path, entry: LazyContent<E>): Promise<Uint8Array> {
    const cached = this.#cache.get(path)
    if (cached !== undefined) {
      // Counts as the newest again.
      this.#cache.put(path, cached)
      return cached
    }
    const running = this.#loading.get(path)
    if (running !== undefined) return running
    const loading = this.#load(path, entry).finally(() => this.#loading.delete(path))
    this.#loading.set(path, loading)
    return loading
  }

  async #load(path: Path, entry: LazyContent<E>): Promise<Uint8Array> {
    const { cacheBytes, concurrency } = this.#bounds
    const size = entry.type === 'file' ? entry.size : MAX_TARGET_BYTES
    if (size > cacheBytes) {
      throw new ToolError(
        'LIMIT_EXCEEDED',
        `Cannot read ${quote(path)}: it is larger than ${counted(cacheBytes, 'byte')}`,
        {
          path,
          limit: 'bytes of a file that is loaded on demand',
          value: cacheBytes,
        },
      )
    }
    while (this.#running >= concurrency || (this.#running > 0 && this.#runningBytes + size > cacheBytes)) {
      await new Promise<void>((resume) => this.#waiting.push(resume))
    }
    this.#running += 1
    this.#runningBytes += size
    try {
      const load = async (options: LoadOptions) => {
        const bytes = await this.#source.load(entry, options)
        await requireListed(path, entry, bytes)
        return bytes
      }
      const bytes = await this.#calls.run('read', path, load)
      this.#cache.put(path, bytes)
      return bytes
    } finally {
      this.#running -= 1
      this.#runningBytes -= size
      for (const resume of this.#waiting.splice(0)) resume()
    }
  }
}

/** @throws ToolError for a content that is not the listed one */
async function requireListed(path: Path, entry: LazyEntry, bytes: Uint8Array): Promise<void> {
  const refuse = (reason: string): never => {
    throw new ToolError('BACKEND_ERROR', `Cannot read ${quote(path)}: ${reason}`, { path })
  }
  if (!isUint8Array(bytes)) refuse('the source returned no bytes')
  if (entry.type !== 'file') {
    if (bytes.length > MAX_TARGET_BYTES) refuse(`the target of the link is longer than ${MAX_TARGET_BYTES} bytes`)
    return
  }
  const { size, sha256 } = entry
  if (bytes.length !== size) refuse(`the source returned ${counted(bytes.length, 'byte')}, and listed ${size}`)
  if (sha256 !== undefined && (await sha256Async(bytes)) !== sha256) {
    refuse('the source returned another content than it listed')
  }
}
