import { ToolError } from '../../errors.ts'
import type { Backend, Change, CommitOptions, Receipt } from '../../storage/backend.ts'
import { hashBytes, planStoredCommit } from '../../storage/plan-commit.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import { AT_ONCE, type Contents } from './contents.ts'
import type { Keys } from './keys.ts'
import { type Garbage, manifestAfter } from './manifest.ts'
import { requireConditions } from './probe.ts'
import { pause } from './retry.ts'
import type { Root, RootObject } from './root.ts'
import type { ObjectStore } from './store.ts'

/** How long a commit may take: the sweep deletes no content that is younger than twice this. */
export const LONGEST_COMMIT_MS = 60 * 60 * 1000

/** Other writers may come first so often; each time at least one of them got on. */
const MAX_ROUNDS = 100

interface Options {
  readonly store: ObjectStore
  readonly keys: Keys
  readonly root: RootObject
  readonly contents: Contents
  readonly clock: () => number
}

/** The commits of one backend, one after the other: against each other they could only lose time. */
export function createCommits(options: Options): Backend['commit'] {
  let last: Promise<unknown> = Promise.resolve()
  return (changes, how) => {
    const mine = last.then(() => commit(options, changes, how))
    last = mine.catch(() => {})
    return mine
  }
}

async function commit(options: Options, changes: readonly Change[], how: CommitOptions): Promise<Receipt> {
  throwIfAborted(how.signal)
  const { root } = options
  const hashes = await hashBytes(changes)
  const uploads = createUploads(options)
  const id = crypto.randomUUID()
  const at = how.at ?? options.clock()
  let base = root.known() ?? (await root.load())
  let outcomeIsKnown = true
  try {
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const planned = plan(base, changes, { hashes, at, name: uploads.name })
      if ('refusal' in planned || planned.steps.size === 0) {
        // What is known of the tree may be old: neither a refusal nor "nothing to do" may rest on it.
        const present = await root.load()
        if (present !== base) {
          base = present
          continue
        }
        if ('refusal' in planned) throw planned.refusal
        return planned.receipt
      }
      if (base.etag === undefined) await requireConditions(options.store, `${options.keys.probes}${id}`)
      await uploads.send(planned.fresh, base.manifest.garbage)
      uploads.requireFresh()
      throwIfAborted(how.signal)
      outcomeIsKnown = false
      const swapped = await root.swap(base, manifestAfter(base.manifest, planned, id, planned.next), id)
      outcomeIsKnown = true
      if (swapped) {
        await uploads.discardAllBut(planned.fresh)
        return planned.receipt
      }
      await pause(Math.min(round, 6))
      base = await root.load()
    }
    throw new ToolError('BACKEND_ERROR', `Cannot commit: other writers came first ${MAX_ROUNDS} times`)
  } catch (error) {
    // Where the manifest may hold them after all, they stay; the sweep knows better later.
    if (outcomeIsKnown) await uploads.discardAllBut(new Map())
    throw error
  }
}

function plan(
  { manifest }: Root,
  changes: readonly Change[],
  given: {
    readonly hashes: ReadonlyMap<Uint8Array, string>
    readonly at: number
    readonly name: (bytes: Uint8Array, path: string) => string
  },
) {
  let next = manifest.next
  try {
    const planned = planStoredCommit<string>(changes, {
      tree: manifest,
      hashes: given.hashes,
      tag: () => String(next++),
      content: given.name,
      at: given.at,
    })
    return { ...planned, next }
  } catch (refusal) {
    return { refusal }
  }
}

/** What one commit puts into the store before its manifest; each content once, however often the commit is tried. */
function createUploads({ contents }: Options) {
  const started = Date.now()
  const names = new Map<string, string>()
  const sent = new Map<string, Uint8Array>()

  return {
    /** A set holds a path once, so that a path stands for its bytes. */
    name(_bytes: Uint8Array, path: string): string {
      let name = names.get(path)
      if (name === undefined) {
        name = crypto.randomUUID()
        names.set(path, name)
      }
      return name
    },

    /** Sends what is missing and deletes what the commit before dropped. */
    async send(fresh: ReadonlyMap<string, Uint8Array>, garbage: readonly Garbage[]): Promise<void> {
      const missing = [...fresh].filter(([name]) => !sent.has(name))
      // Noted before: a part of it may get there even where the whole fails.
      for (const [name, bytes] of missing) sent.set(name, bytes)
      const tidied = contents.remove(garbage).catch(() => {})
      try {
        await mapConcurrent(missing, ([name, bytes]) => contents.write(name, bytes), AT_ONCE)
      } finally {
        await tidied
      }
    },

    requireFresh(): void {
      if (Date.now() - started <= LONGEST_COMMIT_MS) return
      throw new ToolError('BACKEND_ERROR', 'Cannot commit: the object store took more than an hour')
    },

    async discardAllBut(kept: ReadonlyMap<string, Uint8Array>): Promise<void> {
      const idle = [...sent].filter(([name]) => !kept.has(name))
      await contents.remove(idle.map(([content, bytes]) => ({ content, size: bytes.length }))).catch(() => {})
    },
  }
}
