import { ToolError } from '../../errors.ts'
import type { Backend, Change, CommitOptions, Receipt } from '../../storage/backend.ts'
import { hashBytes, loadStoredTree, planStoredCommit, type StoredCommit } from '../../storage/plan-commit.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { type GrownTree, grow } from './grow.ts'
import { newName } from './keys.ts'
import { Batch, type Location, MissingObject, ownNames } from './objects.ts'
import { requireConditions } from './probe.ts'
import { pause } from './retry.ts'
import type { LoadedRoot } from './root.ts'
import { missingNode, type Space } from './space.ts'
import { entriesIn, entryAt, type Root } from './tree.ts'
import { openUploads } from './uploads.ts'

/** Maximum number of times that other writers may commit first. Each time at least one of them makes progress. */
const MAX_ROUNDS = 100

/** More than the number of commits that other writers can make before a writer checks the result of its put. */
const REMEMBERED_COMMITS = 64

/** The sweep deletes what a commit drops beyond this number of objects. */
const MAX_GARBAGE = 200

/** Returns a commit function that runs one commit at a time: concurrent ones would only delay each other. */
export function createCommits(space: Space, clock: () => number): Backend['commit'] {
  const queue = createSerialQueue()
  return (changes, options) => queue.next(() => commit(space, clock, changes, options))
}

async function commit(
  space: Space,
  clock: () => number,
  changes: readonly Change[],
  options: CommitOptions,
): Promise<Receipt> {
  throwIfAborted(options.signal)
  const { root, store, keys } = space
  const hashes = await hashBytes(changes)
  const uploads = openUploads(space)
  const id = newName()
  const at = options.at ?? clock()
  let base = root.cached() ?? (await root.load())
  let isOutcomeCertain = true
  try {
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      const planned = await plan(space, base, changes, { hashes, at, locations: uploads.locations })
      if ('refusal' in planned || planned.grown === undefined) {
        // The cached tree may be outdated: a refusal and "nothing to do" need the current one.
        const current = await root.load()
        if (current !== base) {
          base = current
          continue
        }
        if ('refusal' in planned) throw planned.refusal
        return planned.commit.receipt
      }
      if (base.etag === undefined) await requireConditions(store, `${keys.probes}${id}`)
      const { grown, contents, added } = planned
      await uploads.send({ contents, nodes: grown.batch, added }, base.garbage)
      uploads.requireFresh()
      throwIfAborted(options.signal)
      isOutcomeCertain = false
      const swapped = await root.swap(
        base,
        rootAfter(base, grown, { id, next: planned.next, dropped: planned.commit.dropped }),
        id,
      )
      isOutcomeCertain = true
      if (swapped) {
        for (const [location, bytes] of planned.commit.fresh) space.contents.keep(location, bytes)
        await uploads.discardUnused(planned.commit.fresh.keys())
        return planned.commit.receipt
      }
      await uploads.discardNodes()
      await pause(Math.min(round, 6))
      base = await root.load()
    }
    throw new ToolError('BACKEND_ERROR', `Cannot commit: other writers came first ${MAX_ROUNDS} times`)
  } catch (error) {
    // If the root may name the objects after all, they stay, and the sweep decides later.
    if (isOutcomeCertain) await uploads.discardAll()
    throw error
  }
}

async function plan(
  { nodes }: Space,
  base: LoadedRoot,
  changes: readonly Change[],
  inputs: {
    readonly hashes: ReadonlyMap<Uint8Array, string>
    readonly at: number
    /** The locations of contents that are written already, by path. */
    readonly locations: ReadonlyMap<string, Location>
  },
) {
  const { hashes, at, locations } = inputs
  let next = base.next
  const contents = new Batch(changes.filter(({ to }) => to?.type === 'file').length)
  try {
    const tree = await loadStoredTree(
      changes,
      (path) => entryAt(nodes, base, path),
      (directory) => entriesIn(nodes, base, directory),
    )
    const added = new Map<string, Location>()
    const commit = planStoredCommit<Location>(changes, {
      tree,
      hashes,
      tag: () => String(next++),
      content(bytes, path) {
        const location = locations.get(path) ?? contents.add(bytes)
        added.set(path, location)
        return location
      },
      at,
    })
    const grown = commit.steps.size === 0 ? undefined : await grow(nodes, base, commit.steps)
    return { commit, grown, contents, added, next }
  } catch (refusal) {
    return { refusal: refusal instanceof MissingObject ? missingNode() : refusal }
  }
}

/** The root after a commit. */
export function rootAfter(
  base: Root,
  { root, top, dropped }: GrownTree,
  commit: { readonly id: string; readonly next: number; readonly dropped: StoredCommit<Location>['dropped'] },
): Root {
  const contents = commit.dropped.flatMap(({ content, size }) => ownNames({ location: content, size }))
  return {
    root,
    top,
    next: commit.next,
    commits: [...base.commits, commit.id].slice(-REMEMBERED_COMMITS),
    garbage: [
      ...contents.map((name) => `contents/${name}`),
      ...dropped.flatMap(ownNames).map((name) => `nodes/${name}`),
    ].slice(0, MAX_GARBAGE),
  }
}
