import { ToolError } from '../errors.ts'
import { sha256, sha256Text } from '../files/hash/sha256.ts'
import { type LogicalPath, type Path, parsePath, quote } from '../paths/logical-path.ts'
import type { Backend, Change } from '../storage/backend.ts'

/** The full outputs and diffs of one run, each under `artifact://RUN/NAME`. */
export interface Artifacts {
  /**
   * Stores a text or bytes and gives their address. The name comes from the content: the same content with the same
   * extension has one address. The hint's extension is kept: `result.json` gives `0a1b….json`.
   *
   * @throws ToolError `LIMIT_EXCEEDED` when the artifacts of the run would take more than they may
   */
  put(hint: string, content: string | Uint8Array): string
  /**
   * Gives the address of a text that is made when it is first read. The name comes from the key, which must say all that
   * decides the text, such as the path and both versions of a diff. `make` must be pure. `keeps` is how many bytes it
   * holds on to, and counts like stored ones.
   */
  putLazy(key: string, extension: string, make: () => string, keeps?: number): string
  /** The text of an artifact. `NOT_FOUND` for another run's, `PATH_REJECTED` for what is no address of one. */
  read(uri: string): Promise<string>
  readBytes(uri: string): Promise<Uint8Array>
  /** Waits until everything is in the backend. Throws what the backend threw. Without a backend there is nothing to wait for. */
  flush(): Promise<void>
}

export interface ArtifactsOptions {
  /** Where artifacts are kept, as `RUN/NAME`. Left out: in memory. */
  readonly backend?: Backend | undefined
  /** In bytes, those in a backend not counted. Default: 64 MiB. */
  readonly maxBytes?: number
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024
const SCHEME = 'artifact://'
/** Hex digits of a name: 128 bits. */
const NAME_DIGITS = 32

type Made = { readonly text: string } | { readonly bytes: Uint8Array }
type Content = Made | { readonly make: () => string }

interface Stored {
  content: Content
  size: number
}

/**
 * The artifacts of a run.
 *
 * @throws TypeError for a run id that cannot stand in an address
 */
export function createArtifacts(runId: string, options: ArtifactsOptions = {}): Artifacts {
  if (!isAddressPart(runId)) {
    throw new TypeError(
      `Run id ${JSON.stringify(runId)} must be 1 to 128 of the characters A-Z a-z 0-9 . _ -, not dots alone`,
    )
  }
  const { backend, maxBytes = DEFAULT_MAX_BYTES } = options
  const stored = new Map<string, Stored>()
  let total = 0
  let writing: Promise<void> = Promise.resolve()
  let failure: unknown

  function store(name: string, content: Content, size: number): string {
    if (!stored.has(name)) {
      if (total + size > maxBytes) {
        throw new ToolError(
          'LIMIT_EXCEEDED',
          `The artifacts of this run would take ${total + size} bytes, over the limit of ${maxBytes}`,
          {
            limit: 'artifactBytes',
            value: maxBytes,
          },
        )
      }
      const entry = { content, size }
      stored.set(name, entry)
      total += size
      if (backend !== undefined) queue(backend, name, entry)
    }
    return `${SCHEME}${runId}/${name}`
  }

  /** In the backend it need not be kept here. */
  function queue(to: Backend, name: string, entry: Stored): void {
    writing = writing.then(async () => {
      try {
        await to.commit(changesFor(runId, name, bytesOf(entry.content)), { durability: 'relaxed' })
        stored.delete(name)
        total -= entry.size
      } catch (error) {
        failure ??= error
      }
    })
  }

  async function content(uri: string): Promise<Made> {
    const address = parseArtifactUri(uri)
    const entry = address.runId === runId ? stored.get(address.name) : undefined
    if (entry !== undefined) return 'make' in entry.content ? made(entry, entry.content.make()) : entry.content
    if (backend !== undefined && address.runId === runId) {
      const path = await backend.canonical(parsePath(`${runId}/${address.name}`))
      if ((await backend.stat(path))?.type === 'file') return { bytes: (await backend.read(path)).bytes }
    }
    throw new ToolError('NOT_FOUND', `This run has no artifact ${quote(uri)}`, {
      hint: 'Use the artifactUri of an earlier result of this run.',
    })
  }

  /** What it was made of is let go; the text may be read even where it takes more than was thought. */
  function made(entry: Stored, text: string): Made {
    const content = { text }
    entry.content = content
    total += text.length - entry.size
    entry.size = text.length
    return content
  }

  return {
    put(hint, given) {
      const bytes = typeof given !== 'string'
      const name = nameFor(bytes ? sha256(given) : sha256Text(given), extensionOf(hint))
      return store(name, bytes ? { bytes: given.slice() } : { text: given }, given.length)
    },
    putLazy: (key, extension, make, keeps = 0) =>
      store(nameFor(sha256Text(`lazy\0${key}`), extensionOf(`x.${extension}`)), { make }, keeps),
    async read(uri) {
      const found = await content(uri)
      return 'bytes' in found ? new TextDecoder().decode(found.bytes) : found.text
    },
    readBytes: async (uri) => bytesOf(await content(uri)).slice(),
    async flush() {
      await writing
      const error = failure
      failure = undefined
      if (error !== undefined) throw error
    },
  }
}

/** Whether a path means an artifact rather than a file. */
export function isArtifactUri(path: string): boolean {
  return path.startsWith(SCHEME)
}

/**
 * The run and the name in an artifact's address.
 *
 * @throws ToolError `PATH_REJECTED`
 */
export function parseArtifactUri(uri: string): { readonly runId: string; readonly name: string } {
  const [runId = '', name = '', ...rest] =
    isArtifactUri(uri) && uri.length <= 512 ? uri.slice(SCHEME.length).split('/') : []
  if (!isAddressPart(runId) || !isAddressPart(name) || rest.length > 0) {
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

function bytesOf(content: Content): Uint8Array {
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
