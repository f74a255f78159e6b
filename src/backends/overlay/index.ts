import type { Path } from '../../paths/logical-path.ts'
import type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  EntryState,
  Receipt,
  Version,
} from '../../storage/backend.ts'
import { validateChanges } from '../../storage/change-set.ts'
import { sameVersion, stateAt, versionAt, versionOf } from '../../storage/versions.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { memory } from '../memory/index.ts'
import { openChangedPaths } from './changed-paths.ts'
import { judgeSet, refuseUnsupported, upperSet } from './commit.ts'
import { createLayers, type Layers } from './layers.ts'
import { layeredReads } from './reads.ts'
import { layeredTree } from './tree.ts'

/** An {@link overlay}: a backend whose changes wait above another one until they are accepted or discarded. */
export interface OverlayBackend extends Backend {
  /** What lies below; never written but by {@link OverlayBackend.accept}. */
  readonly lower: Backend
  /**
   * The whole difference to what lies below, as one change set, sorted by path. It expects below the versions that were there
   * when each path was first changed here, so that what others have changed since is a `WRITE_CONFLICT`.
   */
  pending(): Promise<readonly Change[]>
  /** Commits changes, as `pending` gave them, to what lies below. Once nothing here differs from that, it is let go. */
  accept(changes: readonly Change[], options: CommitOptions): Promise<Receipt>
  /** Forgets everything that was changed here. */
  discard(): Promise<void>
  /**
   * Keeps what shows now at the paths of some changes, whatever becomes of them below; what was changed here is kept anyway.
   * For a program that is about to make these changes below.
   */
  hold(changes: readonly Pick<Change, 'path' | 'to'>[]): Promise<void>
  /** An independent overlay over the same lower backend, if the upper one forks. Closing it leaves the lower one open. */
  fork?(): OverlayBackend
}

/** What the overlay takes care of below it. */
export interface OverlayOptions {
  /** Whether closing the overlay closes `lower` too. Default: true. */
  readonly closesLower?: boolean
}

/**
 * Copy-on-write over another backend: all reads show `lower` with the changes on top, all writes go to `upper`, and
 * nothing below changes until {@link OverlayBackend.accept}. A deleted directory hides all that is below it, also what
 * others put there later; everything else that others change below shows through where nothing was changed here.
 *
 * `upper` must be empty, or one that an overlay over the same `lower` has left; where it is lasting, an overlay can be
 * opened again on it. It holds the changed files at their own paths and, where it is lasting, a directory
 * `.wardspace-overlay` that notes what they replace; that name is refused here. Default: memory.
 *
 * Capabilities are those that both have; `atomic` and `persistent` say what becomes of a commit to the overlay itself.
 *
 * @throws TypeError for an upper backend that holds something else, or that ignores letter case where `lower` does not
 * @example
 * ```ts
 * const draft = overlay(nodeBackend('./repo'))
 * const workspace = await createWorkspace({ backend: draft, policy: 'autonomous' })
 * // ... work ...
 * await workspace.commit()
 * ```
 */
export function overlay(
  lower: Backend,
  upper: Backend = memory(),
  { closesLower = true }: OverlayOptions = {},
): OverlayBackend {
  if (lower.capabilities.caseSensitive && !upper.capabilities.caseSensitive) {
    throw new TypeError('overlay(): the upper backend ignores letter case, and the lower one does not')
  }
  return overLayers(createLayers(lower, upper, openChangedPaths(upper)), async () => {
    if (closesLower) await lower.close()
  })
}

function overLayers(layers: Layers, closeLower: () => Promise<void>): OverlayBackend {
  const { lower, upper, touched } = layers
  const capabilities = combined(lower.capabilities, upper.capabilities)
  const reads = layeredReads(layers)
  const inTurn = queue()

  async function commit(changes: readonly Change[], options: CommitOptions): Promise<Receipt> {
    throwIfAborted(options.signal)
    validateChanges(changes)
    refuseUnsupported(changes, capabilities)
    return inTurn(async () => {
      throwIfAborted(options.signal)
      await touched.ready()
      const judged = await judgeSet(layers, reads, changes)
      const { set, bases } = await upperSet(layers, reads, judged, capabilities)
      const receipt = set.length === 0 ? { applied: [] } : await upper.commit(set, options)
      touched.add(bases, set)
      const after = new Map(receipt.applied.map((entry) => [entry.path, entry.after]))
      return {
        applied: judged.map(({ change: { path }, before, isNoChange }) => ({
          path,
          before,
          after: isNoChange ? before : (after.get(path) ?? null),
        })),
      }
    })
  }

  async function pending(): Promise<Change[]> {
    await touched.ready()
    const changes: Change[] = []
    for (const path of touched.paths()) {
      const { base, tag } = touched.get(path) as { base: Version; tag?: string }
      const to = await stateAt(upper, path)
      if (base?.type === 'directory' && to?.type !== 'directory') changes.push(...(await strangersIn(path)))
      if (sameVersion(base, versionOf(to))) continue
      // After a crash between the commit below and the forgetting here, the work is done already.
      if (upper.capabilities.persistent && sameVersion(await versionAt(lower, path), versionOf(to))) continue
      changes.push({ path, expect: await expectationOf(path, base, tag, to), to })
    }
    return changes
  }

  async function expectationOf(
    path: Path,
    base: Version,
    tag: string | undefined,
    to: EntryState,
  ): Promise<Change['expect']> {
    if (base === null) return 'absent'
    if (base.type === 'file') return { sha256: base.sha256 }
    // A directory that vanishes is judged by what is in it.
    if (base.type === 'directory' && to === null) return 'any'
    // Made anew, a directory or a link has another tag and is the same all the same.
    const now = await lower.stat(path)
    const isSame = now?.type === base.type && sameVersion(await versionAt(lower, path), base)
    return { tag: isSame && now !== undefined ? now.tag : (tag ?? '') }
  }

  /** What others put below a directory that was taken away here: it must not be lost, so that it is a conflict. */
  async function strangersIn(path: Path): Promise<Change[]> {
    if ((await lower.stat(path))?.type !== 'directory') return []
    const names = await lower.list(path)
    const strangers = names.map(({ name }) => `${path}/${name}` as Path).filter((child) => !touched.has(child))
    return strangers.map((child) => ({ path: child, expect: { sha256: NO_VERSION }, to: null }))
  }

  /** Whether what lies below shows the same as this overlay: what is held against changes there must stay. */
  async function makesNoDifference(): Promise<boolean> {
    for (const path of touched.paths()) {
      if (!sameVersion(await versionAt(lower, path), await versionAt(upper, path))) return false
      if ((await strangersIn(path)).length > 0) return false
    }
    return true
  }

  async function discard(): Promise<void> {
    await touched.ready()
    await touched.clear()
  }

  const backend: OverlayBackend = {
    lower,
    capabilities,
    ...reads,
    commit,
    pending: () => inTurn(pending),
    accept: (changes, options) =>
      inTurn(async () => {
        const receipt = await lower.commit(changes, options)
        await touched.rebase(receipt, async (path) => (await lower.stat(path))?.tag)
        if ((await pending()).length === 0 && (await makesNoDifference())) await discard()
        return receipt
      }),
    discard: () => inTurn(discard),
    hold: (changes) =>
      inTurn(async () => {
        await touched.ready()
        const held: Change[] = []
        const waiting: Pick<Change, 'path' | 'to'>[] = [...changes]
        const seen = new Set<Path>()
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
          const { path, to } = next
          if (seen.has(path) || layers.locate(path) === 'upper') continue
          seen.add(path)
          const now = await stateAt(reads, path)
          if (now?.type === 'directory') {
            if (to?.type === 'directory') continue
            // A directory that is held hides what lies below it, so that all in it must be held as well.
            for (const { name } of await reads.list(path)) waiting.push({ path: `${path}/${name}` as Path, to: null })
          }
          held.push({ path, expect: 'any', to: now })
        }
        const judged = held.map((change) => ({ change, before: versionOf(change.to), isNoChange: false }))
        const { set, bases } = await upperSet(layers, reads, judged, capabilities)
        if (set.length > 0) await upper.commit(set, { durability: 'relaxed' })
        touched.add(bases, set)
      }),
    ...(lower.tree && upper.tree && !upper.capabilities.persistent && { tree: layeredTree(layers) }),
    ...(upper.fork && {
      fork: () => {
        const forked = (upper.fork as () => Backend)()
        return overLayers(createLayers(lower, forked, touched.fork(forked)), async () => {})
      },
    }),
    ...((lower.containsPhysicalPath || upper.containsPhysicalPath) && {
      containsPhysicalPath: (physicalPath) =>
        lower.containsPhysicalPath?.(physicalPath) === true || upper.containsPhysicalPath?.(physicalPath) === true,
    }),
    async close() {
      await inTurn(async () => {})
      await upper.close()
      await closeLower()
    },
  }
  return backend
}

/** A sha256 that no file has. */
const NO_VERSION = '0'.repeat(64)

function combined(a: Capabilities, b: Capabilities): Capabilities {
  const times = [a.times, b.times]
  return Object.freeze({
    links: a.links && b.links,
    modes: a.modes && b.modes,
    times: times.includes('none') ? 'none' : times.includes('own') ? 'own' : 'set',
    caseSensitive: a.caseSensitive && b.caseSensitive,
    authority: a.authority === 'sole' && b.authority === 'sole' ? 'sole' : 'shared',
    persistent: a.persistent && b.persistent,
    atomic: b.atomic,
  })
}

/** One after the other. */
function queue(): <T>(action: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  return (action) => {
    const next = last.then(action, action)
    last = next.catch(() => {})
    return next
  }
}

/** Whether a backend is an overlay, and so has something to accept or discard. */
export function isOverlay(backend: Backend): backend is OverlayBackend {
  return 'pending' in backend && 'accept' in backend
}
