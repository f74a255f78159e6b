import { ToolError } from '../errors.ts'
import { sha256, sha256Text } from '../files/hash/sha256.ts'
import { type LogicalPath, type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Backend, Change } from '../storage/backend.ts'
import { copyBytes } from '../util/bytes.ts'

/** The full outputs and diffs of one run, each at an address `artifact://RUN/NAME`. */
export interface Artifacts {
  /**
   * Stores a text or bytes. Returns their address. The name is a hash of the content, so the same content with the same
   * extension has one address. The extension of the hint is kept: `result.json` becomes `0a1b….json`.
   *
   * @throws ToolError `LIMIT_EXCEEDED` if the artifacts of the run would exceed their limit
   */
  put(hint: string, content: string | Uint8Array): string
  /**
   * Returns the address of a text that is made when it is first read. The name is a hash of the key, which must determine
   * the text, such as the path and both versions of a diff. `make` must be pure. `keeps` is the number of bytes that it keeps
   * in memory; they count towards the limit.
   */
  putLazy(key: string, extension: string, make: () => string, keeps?: number): string
  /**
   * Returns the text of an artifact.
   *
   * @throws ToolError `NOT_FOUND` for an artifact of another run; `PATH_REJECTED` for an invalid address
   */
  read(uri: string): Promise<string>
  /** Returns the bytes of an artifact, with the errors of {@link read}. */
  readBytes(uri: string): Promise<Uint8Array>
  /** Waits until everything is in the backend, if there is one. Throws the first error of the backend. */
  flush(): Promise<void>
}

export interface ArtifactsOptions {
  /** Where artifacts are stored, as `RUN/NAME`. Default: in memory. */
  readonly backend?: Backend | undefined
  /** Maximum bytes in memory. Artifacts in a backend do not count. Default: 64 MiB. */
  readonly maxBytes?: number
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024
const SCHEME = 'artifact://'
/** Hex digits of a name: 128 bits of the hash. */
const NAME_DIGITS = 32

type Content = { readonly text: string } | { readonly bytes: Uint8Array }
type LazyContent = { readonly make: () => string }

interface Entry {
  content: Content | LazyContent
  /** The bytes that count towards the limit. */
  size: number
}

/**
 * Creates the artifacts of a run.
 *
 * @throws TypeError for a run id that cannot be part of an address
 */
export function createArtifacts(runId: string, options: ArtifactsOptions = {}): Artifacts {
  // The id of a call, which is longer, is a part of an address too.
  if (!isAddressPart(runId) || runId.length > 100) {
    throw new TypeError(
      `The run id ${JSON.stringify(runId)} must have 1 to 100 of the characters A-Z a-z 0-9 . _ -, and not only dots`,
    )
  }
  const store = new ArtifactStore(runId, options.backend, options.maxBytes ?? DEFAULT_MAX_BYTES)
  return {
    put(hint, content) {
      const isText = typeof content === 'string'
      const name = nameFor(isText ? sha256Text(content) : sha256(content), extensionOf(hint))
      return store.add(name, isText ? { text: content } : { bytes: copyBytes(content) }, content.length)
    },
    putLazy: (key, extension, make, keeps = 0) =>
      store.add(nameFor(sha256Text(`lazy\0${key}`), extensionOf(`x.${extension}`)), { make }, keeps),
    async read(uri) {
      const content = await store.content(uri)
      return 'bytes' in content ? new TextDecoder().decode(content.bytes) : content.text
    },
    readBytes: async (uri) => copyBytes(bytesOf(await store.content(uri))),
    flush: () => store.flush(),
  }
}

/** The artifacts in memory, and the queue of those that are written to a backend. */
class ArtifactStore {
  readonly #runId: string
  readonly #backend: Backend | undefined
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  #totalBytes = 0
  #writing: Promise<void> = Promise.resolve()
  #failure: unknown

  constructor(runId: string, backend: Backend | undefined, maxBytes: number) {
    this.#runId = runId
    this.#backend = backend
    this.#maxBytes = maxBytes
  }

  /** Adds an artifact, unless there is one of that name. Returns its address. */
  add(name: string, content: Content | LazyContent, size: number): string {
    if (!this.#entries.has(name)) {
      const total = this.#totalBytes + size
      if (total > this.#maxBytes) {
        const message = `The artifacts of this run would take ${total} bytes, over the limit of ${this.#maxBytes}`
        throw new ToolError('LIMIT_EXCEEDED', message, { limit: 'artifactBytes', value: this.#maxBytes })
      }
      const entry = { content, size }
      this.#entries.set(name, entry)
      this.#totalBytes = total
      if (this.#backend !== undefined) this.#write(this.#backend, name, entry)
    }
    return `${SCHEME}${this.#runId}/${name}`
  }

  /** Queues an artifact for the backend. It is removed from memory once it is written. */
  #write(backend: Backend, name: string, entry: Entry): void {
    this.#writing = this.#writing.then(async () => {
      try {
        await backend.commit(changesFor(this.#runId, name, bytesOf(entry.content)), { durability: 'relaxed' })
        this.#entries.delete(name)
        this.#totalBytes -= entry.size
      } catch (error) {
        this.#failure ??= error
      }
    })
  }

  async content(uri: string): Promise<Content> {
    const { runId, name } = parseArtifactUri(uri)
    if (runId === this.#runId) {
      const entry = this.#entries.get(name)
      if (entry !== undefined) return 'make' in entry.content ? this.#make(entry, entry.content) : entry.content
      const stored = await this.#readStored(name)
      if (stored !== undefined) return stored
    }
    throw new ToolError('NOT_FOUND', `This run has no artifact ${quote(uri)}`, {
      hint: 'Use the artifactUri of an earlier result of this run.',
    })
  }

  async #readStored(name: string): Promise<Content | undefined> {
    const backend = this.#backend
    if (backend === undefined) return undefined
    const path = await backend.canonical(parsePath(`${this.#runId}/${name}`))
    return (await backend.stat(path))?.type === 'file' ? { bytes: (await backend.read(path)).bytes } : undefined
  }

  /** Replaces lazy content by its text. The text may be read even if it is larger than expected. */
  #make(entry: Entry, { make }: LazyContent): Content {
    const content = { text: make() }
    entry.content = content
    this.#totalBytes += content.text.length - entry.size
    entry.size = content.text.length
    return content
  }

  async flush(): Promise<void> {
    await this.#writing
    const error = this.#failure
    this.#failure = undefined
    if (error !== undefined) throw error
  }
}

/** Whether a path is the address of an artifact, not of a file. */
export function isArtifactUri(path: string): boolean {
  return path.startsWith(SCHEME)
}

/**
 * Parses the address of an artifact.
 *
 * @throws ToolError `PATH_REJECTED`
 */
export function parseArtifactUri(uri: string): { readonly runId: string; readonly name: string } {
  const [runId = '', name = '', ...others] =
    isArtifactUri(uri) && uri.length <= 512 ? uri.slice(SCHEME.length).split('/') : []
  if (!isAddressPart(runId) || !isAddressPart(name) || others.length > 0) {
    throw new ToolError('PATH_REJECTED', `${quote(uri)} is not the address of an artifact`, {
      hint: 'Use an artifactUri from a result, as artifact://RUN/NAME.',
    })
  }
  return { runId, name }
}

function isAddressPart(part: string): boolean {
  return typeof part === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(part) && !/^\.+$/.test(part)
}

function nameFor(hash: string, extension: string): string {
  return hash.slice(0, NAME_DIGITS) + extension
}

function extensionOf(hint: string): string {
  return /\.[a-z0-9]{1,10}$/.exec(hint)?.[0] ?? '.txt'
}

function bytesOf(content: Content | LazyContent): Uint8Array {
  if ('bytes' in content) return content.bytes
  return new TextEncoder().encode('text' in content ? content.text : content.make())
}

function changesFor(runId: string, name: string, bytes: Uint8Array): readonly Change[] {
  const path = (text: LogicalPath) => text as Path
  return [
    { path: path(parsePath(runId)), expect: 'any', to: { type: 'directory' } },
    { path: path(parsePath(`${runId}/${name}`)), expect: 'any', to: { type: 'file', bytes } },
  ]
}
