import { ToolError } from '../../errors.ts'
import { decodeManifest, emptyManifest, encodeManifest, type Manifest } from './manifest.ts'
import { pause } from './retry.ts'
import type { ObjectStore } from './store.ts'

/** The manifest as it stands in the store; without an etag, it is not there yet. */
export interface Root {
  readonly manifest: Manifest
  readonly etag: string | undefined
}

/** The one object that changes. */
export interface RootObject {
  /** What was seen or put last, if anything. */
  known(): Root | undefined
  /** What is there now. The same object while nothing changes. Calls of one turn share one look. */
  load(): Promise<Root>
  /** Puts the next manifest where `base` still stands. `false`: something else stands there, and nothing was changed. */
  swap(base: Root, next: Manifest, commit: string): Promise<boolean>
}

const TRIES = 5

export function openRoot(store: ObjectStore, key: string): RootObject {
  let known: Root | undefined
  let looking: Promise<Root> | undefined

  async function look(): Promise<Root> {
    // Those who ask before the request goes out may share it; nobody else, or they could miss what was committed since.
    await undefined
    looking = undefined
    const before = known
    const found = await store.get(key, before?.etag === undefined ? {} : { ifNoneMatch: before.etag })
    if (found === 'unchanged' && before !== undefined) return before
    if (found === undefined) {
      if (before !== undefined && before.etag === undefined) return before
      return keep({ manifest: emptyManifest, etag: undefined }, before)
    }
    if (found === 'unchanged') throw new ToolError('BACKEND_ERROR', 'The object store answered what was not asked')
    return keep({ manifest: decode(found.bytes), etag: found.etag }, before)
  }

  /** Answers may overtake each other: what is known gives way only where nobody has replaced it meanwhile. */
  function keep(root: Root, before: Root | undefined): Root {
    if (known !== undefined && known.etag === root.etag) return known
    if (known === before) known = root
    return root
  }

  const load = () => {
    looking ??= look()
    return looking
  }

  return {
    known: () => known,
    load,
    async swap(base, next, commit) {
      const bytes = encodeManifest(next)
      for (let tries = 1; ; tries++) {
        try {
          const put = await store.put(
            key,
            bytes,
            base.etag === undefined ? { ifNoneMatch: '*' } : { ifMatch: base.etag },
          )
          if (put !== undefined) {
            known = { manifest: next, etag: put.etag }
            return true
          }
          // It may be this very put that stands there: its answer was lost, and it was sent once more.
          return (await load()).manifest.commits.includes(commit)
        } catch (error) {
          if (tries < TRIES && !(error instanceof ToolError && error.code === 'NO_SPACE')) {
            await pause(tries)
            continue
          }
          throw unknownOutcome(error)
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
      'The manifest of this workspace cannot be read: it is damaged, or of a later version',
    )
  }
}

function unknownOutcome(error: unknown): ToolError {
  if (error instanceof ToolError && error.code === 'NO_SPACE') return error
  return new ToolError(
    'BACKEND_ERROR',
    'The object store did not answer: it is not known whether the change was taken',
    {
      hint: 'Read the files before you repeat the change: it may have been made.',
    },
  )
}
