import { ToolError } from '../../errors.ts'
import { decodeManifest, emptyManifest, encodeManifest, type Manifest } from './manifest.ts'
import { pause } from './retry.ts'
import type { ObjectStore } from './store.ts'

/** The manifest and its etag. Without an etag, the store has no manifest yet. */
export interface Root {
  readonly manifest: Manifest
  readonly etag: string | undefined
}

/** The one object that changes. */
export interface RootObject {
  /** The manifest that was read or written last, if any. */
  cached(): Root | undefined
  /** Loads the current manifest; returns the same object while it is unchanged. Calls in one turn share a request. */
  load(): Promise<Root>
  /** Replaces `base` by the next manifest. Returns false, and changes nothing, if `base` is not the current one. */
  swap(base: Root, next: Manifest, commit: string): Promise<boolean>
}

const MAX_TRIES = 5

export function openRoot(store: ObjectStore, key: string): RootObject {
  let cached: Root | undefined
  let loading: Promise<Root> | undefined

  async function request(): Promise<Root> {
    // Callers may share a request only before it is sent: later ones could miss a commit.
    await undefined
    loading = undefined
    const before = cached
    const object = await store.get(key, before?.etag === undefined ? {} : { ifNoneMatch: before.etag })
    if (object === 'unchanged' && before !== undefined) return before
    if (object === undefined) {
      if (before !== undefined && before.etag === undefined) return before
      return cache({ manifest: emptyManifest, etag: undefined }, before)
    }
    if (object === 'unchanged') throw new ToolError('BACKEND_ERROR', 'The object store sent an unexpected response')
    return cache({ manifest: decode(object.bytes), etag: object.etag }, before)
  }

  /** Caches a response, unless another one arrived since its request. */
  function cache(root: Root, before: Root | undefined): Root {
    if (cached !== undefined && cached.etag === root.etag) return cached
    if (cached === before) cached = root
    return root
  }

  const load = () => {
    loading ??= request()
    return loading
  }

  return {
    cached: () => cached,
    load,
    async swap(base, next, commit) {
      const bytes = encodeManifest(next)
      for (let tries = 1; ; tries++) {
        try {
          const result = await store.put(
            key,
            bytes,
            base.etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: base.etag },
          )
          if (result !== undefined) {
            cached = { manifest: next, etag: result.etag }
            return true
          }
          // This put may be the current one, if its response was lost and it was sent again.
          return (await load()).manifest.commits.includes(commit)
        } catch (error) {
          if (tries < MAX_TRIES && !(error instanceof ToolError && error.code === 'NO_SPACE')) {
            await pause(tries)
            continue
          }
          throw unknownOutcomeError(error)
        }
      }
    },
  }
}

function decode(bytes: Uint8Array): Manifest {
  try {
    return decodeManifest(bytes)
  } catch {
    throw new ToolError(
      'BACKEND_ERROR',
      'The manifest of this workspace cannot be read: it is damaged, or of a newer version',
    )
  }
}

function unknownOutcomeError(error: unknown): ToolError {
  if (error instanceof ToolError && error.code === 'NO_SPACE') return error
  return new ToolError(
    'BACKEND_ERROR',
    'The object store did not answer: it is not known whether the change was taken',
    {
      hint: 'Read the files before you repeat the change: it may have been made.',
    },
  )
}
