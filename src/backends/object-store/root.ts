import { ToolError } from '../../errors.ts'
import { emptyRoot } from '../../storage/plan-commit.ts'
import { type Manifest, rootOfManifest } from './format-1.ts'
import { directoryEntry, fromStored, type StoredNode, toStored } from './nodes.ts'
import { pause } from './retry.ts'
import type { ObjectStore } from './store.ts'
import type { Root } from './tree.ts'

/** A root and its etag. Without an etag, the store has no root yet. */
export interface LoadedRoot extends Root {
  readonly etag: string | undefined
}

/** The one object that changes. */
export interface RootObject {
  /** The root that was read or written last, if any. */
  cached(): LoadedRoot | undefined
  /** Loads the current root; returns the same object while it is unchanged. Calls in one turn share a request. */
  load(): Promise<LoadedRoot>
  /** Replaces `base` by the next root. Returns false, and changes nothing, if `base` is not the current one. */
  swap(base: LoadedRoot, next: Root, commit: string): Promise<boolean>
}

const MAX_TRIES = 5

export function openRoot(store: ObjectStore, key: string): RootObject {
  let cached: LoadedRoot | undefined
  let loading: Promise<LoadedRoot> | undefined

  async function request(): Promise<LoadedRoot> {
    // Callers may share a request only before it is sent: later ones could miss a commit.
    await undefined
    loading = undefined
    const before = cached
    const object = await store.get(key, before?.etag === undefined ? {} : { ifNoneMatch: before.etag })
    if (object === 'unchanged' && before !== undefined) return before
    if (object === undefined) {
      if (before?.etag !== undefined) {
        throw new ToolError('BACKEND_ERROR', 'The manifest of this workspace is missing in the store', {
          hint: 'Restore the manifest from a copy of the store.',
        })
      }
      if (before !== undefined) return before
      return cache({ ...newRoot, etag: undefined }, before)
    }
    if (object === 'unchanged') throw new ToolError('BACKEND_ERROR', 'The object store sent an unexpected response')
    return cache({ ...decode(object.bytes), etag: object.etag }, before)
  }

  /** Caches a response, unless another one arrived since its request. */
  function cache(root: LoadedRoot, before: LoadedRoot | undefined): LoadedRoot {
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
      const bytes = encode(next)
      for (let tries = 1; ; tries++) {
        try {
          const result = await store.put(
            key,
            bytes,
            base.etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: base.etag },
          )
          if (result !== undefined) {
            cached = { ...next, etag: result.etag }
            return true
          }
          // This put may be the current one, if its response was lost and it was sent again.
          return (await load()).commits.includes(commit)
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

const FORMAT = 2
const newRoot: Root = { next: 1, commits: [], garbage: [], root: emptyRoot, top: { keys: [], entries: [] } }

/** The root as JSON. */
interface StoredRoot extends Pick<Root, 'next' | 'commits' | 'garbage'> {
  readonly format: typeof FORMAT
  /** Tag and time of the root directory. */
  readonly root: readonly [tag: string, at: number]
  readonly top: StoredNode
}

function encode({ next, commits, garbage, root, top }: Root): Uint8Array {
  const { tag, modifiedAt } = root.stat
  const stored: StoredRoot = { format: FORMAT, next, commits, garbage, root: [tag, modifiedAt], top: toStored(top) }
  return new TextEncoder().encode(JSON.stringify(stored))
}

function decode(bytes: Uint8Array): Root {
  try {
    const stored = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as StoredRoot | Manifest
    const { format, next, commits, garbage } = stored
    if (!Number.isSafeInteger(next) || !Array.isArray(commits) || !Array.isArray(garbage)) throw new Error('Incomplete')
    if (format === 1) return rootOfManifest(stored)
    if (format !== FORMAT) throw new Error('Unknown format')
    return { next, commits, garbage, root: directoryEntry(...stored.root), top: fromStored(stored.top) }
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
