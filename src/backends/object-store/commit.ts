import { ToolError } from '../../errors.ts'
import type { Backend, Change, CommitOptions, Receipt } from '../../storage/backend.ts'
import { hashBytes, planStoredCommit } from '../../storage/plan-commit.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { mapConcurrent } from '../../util/map-concurrent.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { CONCURRENCY, type Contents } from './contents.ts'
import type { Keys } from './keys.ts'
import { type Garbage, manifestAfter } from './manifest.ts'
import { requireConditions } from './probe.ts'
import { pause } from './retry.ts'
import type { Root, RootObject } from './root.ts'
import type { ObjectStore } from './store.ts'

/** Maximum duration of a commit. The sweep deletes no content that is younger than twice this. */
export const MAX_COMMIT_MS = 60 * 60 * 1000

/** Maximum number of times that other writers may commit first. Each time at least one of them makes progress. */
const MAX_ROUNDS = 100

interface CommitContext {
  readonly store: ObjectStore
  readonly keys: Keys
  readonly root: RootObject
  readonly contents: Contents
  readonly clock: () => number
}

/** Returns a commit function that runs one commit at a time: concurrent ones would only delay each other. */
export function createCommits(context: CommitContext): Backend['commit'] {
  const queue = createSerialQueue()
  return (changes, options) => queue.next(() => commit(context, changes, options))
}

async function commit(context: CommitContext, changes: readonly Change[], options: CommitOptions): Promise<Receipt> {
  throwIfAborted(options.signal)
  const { root, store, keys, clock } = context
  const hashes = await hashBytes(changes)
  const uploads = createUploads(context)
  const id = crypto.randomUUID()
  const at = options.at ?? clock()
  let base = root.cached() ?? (await root.load())
  let isOutcomeCertain = true
  try {
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const planned = plan(base, changes, { hashes, at, name: uploads.name })
      if ('refusal' in planned || planned.steps.size === 0) {
        // The cached tree may be outdated: a refusal and "nothing to do" need the current one.
        const current = await root.load()
        if (current !== base) {
          base = current
          continue
        }
        if ('refusal' in planned) throw planned.refusal
        return planned.receipt
      }
      if (base.etag === undefined) await requireConditions(store, `${keys.probes}${id}`)
      await uploads.send(planned.fresh, base.manifest.garbage)
      uploads.requireFresh()
      throwIfAborted(options.signal)
      isOutcomeCertain = false
      const swapped = await root.swap(base, manifestAfter(base.manifest, planned, id, planned.next), id)
      isOutcomeCertain = true
      if (swapped) {
        await uploads.discardAllBut(planned.fresh)
        return planned.receipt
      }
      await pause(Math.min(round, 6))
      base = await root.load()
    }
    throw new ToolError('BACKEND_ERROR', `Cannot commit: other writers came first ${MAX_ROUNDS} times`)
  } catch (error) {
    // If the manifest may name the contents after all, they stay, and the sweep decides later.
    if (isOutcomeCertain) await uploads.discardAllBut(new Map())
    throw error
  }
}

function plan(
  { manifest }: Root,
  changes: readonly Change[],
  inputs: {
    readonly hashes: ReadonlyMap<Uint8Array, string>
    readonly at: number
    readonly name: (bytes: Uint8Array, path: string) => string
  },
) {
  let next = manifest.next
  try {
    const planned = planStoredCommit<string>(changes, {
      tree: manifest,
      hashes: inputs.hashes,
      tag: () => String(next++),
      content: inputs.name,
      at: inputs.at,
    })
    return { ...planned, next }
  } catch (refusal) {
    return { refusal }
  }
}

/** The contents that one commit writes before its manifest; each one once, even if the commit is tried again. */
function createUploads({ contents }: CommitContext) {
  const started = Date.now()
  const names = new Map<string, string>()
  const uploads = new Map<string, Uint8Array>()

  return {
    /** Returns the name of the content of a path. A change set has each path once, so the path identifies the content. */
    name(_bytes: Uint8Array, path: string): string {
      let name = names.get(path)
      if (name === undefined) {
        name = crypto.randomUUID()
        names.set(path, name)
      }
      return name
    },

    /** Writes the missing contents, and deletes those that the previous commit dropped. */
    async send(fresh: ReadonlyMap<string, Uint8Array>, garbage: readonly Garbage[]): Promise<void> {
      const missing = [...fresh].filter(([name]) => !uploads.has(name))
      // Recorded first: parts of a content may be written even if the whole fails.
      for (const [name, bytes] of missing) uploads.set(name, bytes)
      const removal = contents.remove(garbage).catch(() => {})
      try {
        await mapConcurrent(missing, ([name, bytes]) => contents.write(name, bytes), CONCURRENCY)
      } finally {
        await removal
      }
    },

    requireFresh(): void {
      if (Date.now() - started <= MAX_COMMIT_MS) return
      throw new ToolError('BACKEND_ERROR', 'Cannot commit: the object store took more than an hour')
    },

    async discardAllBut(contentsInUse: ReadonlyMap<string, Uint8Array>): Promise<void> {
      const unused = [...uploads].filter(([name]) => !contentsInUse.has(name))
      await contents.remove(unused.map(([content, bytes]) => ({ content, size: bytes.length }))).catch(() => {})
    },
  }
}
