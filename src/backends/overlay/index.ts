import { sha256 } from '../../files/hash/sha256.ts'
import type { Path } from '../../paths/logical-path.ts'
import type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  EntryState,
  OutsideListener,
  Receipt,
  Version,
} from '../../storage/backend.ts'
import { validateChanges } from '../../storage/change-set.ts'
import { isBackend } from '../../storage/is-backend.ts'
import { pinAll } from '../../storage/pin.ts'
import { treeReadsNow } from '../../storage/tree-nodes.ts'
import { sameState, sameVersion, stateAt, versionAt, versionOf } from '../../storage/versions.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { checkArgument, checkOptions, isBoolean, isObjectValue, refuseSurplus } from '../../util/check-options.ts'
import { createSerialQueue } from '../../util/serial-queue.ts'
import { memory } from '../memory/index.ts'
import { openChangedPaths } from './changed-paths.ts'
import { type CheckedChange, checkSet, refuseUnsupported, upperSet } from './commit.ts'
import { createLayers, type Layers } from './layers.ts'
import { type LayeredReads, layeredReads } from './reads.ts'
import { layeredTree } from './tree.ts'

/** A backend that keeps its changes above another one until they are accepted or discarded. */
export interface OverlayBackend extends Backend {
  /** The backend below. Only {@link OverlayBackend.accept} writes to it. */
  readonly lower: Backend
  /**
   * Returns the whole difference to `lower` as one change set, sorted by path. Each change expects the version that `lower`
   * had when the path was first changed here, so that later changes by others are a `WRITE_CONFLICT`.
   */
  pending(): Promise<readonly Change[]>
  /**
   * Returns what a changed path was in `lower` when it was first changed here: its version, and the content of a file of up to
   * 1 MiB. `undefined` for a path that was not changed here.
   */
  baseOf(path: Path): Promise<{ readonly version: Version; readonly content?: Uint8Array } | undefined>
  /**
   * Commits changes to `lower`: those from `pending`, or merged ones of the same paths, which the overlay then shows too.
   * Clears the overlay once it no longer differs from `lower`.
   */
  accept(changes: readonly Change[], options: CommitOptions): Promise<Receipt>
  /** Drops all changes of the overlay. */
  discard(): Promise<void>
  /**
   * Keeps the present state of the paths of some changes, whatever happens to them in `lower`. Paths changed here are kept
   * anyway. For programs that are about to make these changes in `lower`.
   */
  hold(changes: readonly Pick<Change, 'path' | 'to'>[]): Promise<void>
  /** Returns an independent overlay over the same `lower`, if `upper` forks. Closing it leaves `lower` open. */
  fork?(): OverlayBackend
}

/** Options of {@link overlay}. */
export interface OverlayOptions {
  /** Whether closing the overlay closes `lower` too. Default: true. */
  readonly closesLower?: boolean
}

/**
 * Creates a copy-on-write backend over another one. Reads show `lower` with the changes on top, writes go to `upper`, and
 * `lower` does not change until {@link OverlayBackend.accept}. A deleted directory hides everything below it, also what
 * others create there later. Other changes to `lower` show through wherever nothing was changed here.
 *
 * `upper` must be empty, or left by an overlay over the same `lower`: an overlay can be reopened on a persistent `upper`.
 * It stores the changed files at their own paths and, if it is persistent, a directory `.wardspace-overlay` with notes on
 * what they replace; that name is refused as a path. Default: memory.
 *
 * It has the capabilities that both have; `atomic` and `persistent` describe commits to the overlay itself.
 *
 * @throws TypeError if `upper` contains something else, or ignores letter case while `lower` does not
 * @example
 * const draft = overlay(nodeBackend('./repo'))
 * const workspace = await createWorkspace({ backend: draft, policy: 'autonomous' })
 * // ... work ...
 * await workspace.commit()
 */
export function overlay(lower: Backend, upper: Backend = memory(), options?: OverlayOptions): OverlayBackend {
  refuseSurplus('overlay()', 3, arguments)
  isBackend(lower, 'lower', 'overlay()')
  isBackend(upper, 'upper', 'overlay()')
  const { closesLower = true } = checkOptions<OverlayOptions>('overlay()', options, { closesLower: isBoolean })
  if (lower.capabilities.caseSensitive && !upper.capabilities.caseSensitive) {
    throw new TypeError('overlay(): the upper backend ignores letter case, and the lower one does not')
  }
  return overLayers(createLayers(lower, upper, openChangedPaths(upper)), async () => {
    if (closesLower) await lower.close()
  })
}

function overLayers(layers: Layers, closeLower: () => Promise<void>): OverlayBackend {
  const { lower, upper, touched } = layers
  const draft = new OverlayDraft(layers)
  return {
    lower,
    capabilities: draft.capabilities,
    ...draft.reads,
    commit: (changes, options) => draft.commit(changes, options),
    pending: () => draft.inTurn(() => draft.pending()),
    baseOf: (path) => draft.inTurn(() => draft.baseOf(path)),
    accept: (changes, options) => draft.inTurn(() => draft.accept(changes, options)),
    discard: () => draft.inTurn(() => draft.discard()),
    hold: (changes) => draft.inTurn(() => draft.hold(changes)),
    ...treeOf(layers),
    ...(upper.fork && {
      fork: () => {
        const forked = (upper.fork as () => Backend)()
        return overLayers(createLayers(lower, forked, touched.fork(forked)), async () => {})
      },
    }),
    ...(lower.watch && {
      async watch(path, onChange, options) {
        const showsThrough = (changed: Path) => layers.locate(changed) !== 'upper'
        const onLowerChange: OutsideListener = (paths) => {
          const shown = paths?.filter(showsThrough)
          if (shown?.length !== 0) onChange(shown)
        }
        return (showsThrough(path) && (await lower.watch?.(path, onLowerChange, options))) || (() => {})
      },
    }),
    ...pinAll([lower, upper]),
    ...((lower.containsPhysicalPath || upper.containsPhysicalPath) && {
      containsPhysicalPath: (physicalPath) =>
        lower.containsPhysicalPath?.(physicalPath) === true || upper.containsPhysicalPath?.(physicalPath) === true,
    }),
    async close() {
      await draft.inTurn(async () => {})
      await upper.close()
      await closeLower()
    },
  }
}

/** The tree of an overlay whose layers both have one, and its reads at once, if both have those. */
function treeOf(layers: Layers): Pick<Backend, 'tree' | 'readsNow'> {
  const { lower, upper } = layers
  if (!lower.tree || !upper.tree || upper.capabilities.persistent) return {}
  const tree = layeredTree(layers)
  if (!lower.readsNow || !upper.readsNow) return { tree }
  const now = treeReadsNow(tree)
  return { tree, readsNow: () => now }
}

/** The changes of an overlay: how they get in, and how they leave. Methods other than `commit` must run in turn. */
class OverlayDraft {
  readonly capabilities: Capabilities
  readonly reads: LayeredReads
  /** Runs actions one at a time. */
  readonly inTurn = createSerialQueue().next
  readonly #layers: Layers

  constructor(layers: Layers) {
    this.#layers = layers
    layers.touched.finishBegun((versions) => this.#finish(versions))
    this.capabilities = combined(layers.lower.capabilities, layers.upper.capabilities)
    this.reads = layeredReads(layers)
  }

  async commit(changes: readonly Change[], options: CommitOptions): Promise<Receipt> {
    const { touched } = this.#layers
    throwIfAborted(options.signal)
    validateChanges(changes)
    refuseUnsupported(changes, this.capabilities)
    return this.inTurn(async () => {
      throwIfAborted(options.signal)
      await touched.ready()
      const checked = await checkSet(this.#layers, this.reads, changes)
      const receipt = await this.#write(checked, options)
      const after = new Map(receipt.applied.map((entry) => [entry.path, entry.after]))
      return {
        applied: checked.map(({ change: { path }, before, isNoChange }) => ({
          path,
          before,
          after: isNoChange ? before : (after.get(path) ?? null),
        })),
      }
    })
  }

  /** Writes checked changes to the upper backend. */
  async #write(checked: readonly CheckedChange[], options: CommitOptions): Promise<Receipt> {
    const { upper, touched } = this.#layers
    const { set, bases } = await upperSet(this.#layers, this.reads, checked, this.capabilities)
    const receipt = set.length === 0 ? { applied: [] } : await upper.commit(set, options)
    touched.add(bases, set)
    return receipt
  }

  async pending(): Promise<Change[]> {
    const { lower, upper, touched } = this.#layers
    await touched.ready()
    const changes: Change[] = []
    for (const path of touched.paths()) {
      const { base, tag } = touched.get(path) as { base: Version; tag?: string }
      const to = await stateAt(upper, path)
      if (base?.type === 'directory' && to?.type !== 'directory') changes.push(...(await this.#foreignEntries(path)))
      if (sameVersion(base, versionOf(to))) continue
      // After a crash between the commit to `lower` and the discard here, the change is already done.
      if (upper.capabilities.persistent && sameVersion(await versionAt(lower, path), versionOf(to))) continue
      changes.push({ path, expect: await this.#expectationOf(path, base, tag, to), to })
    }
    return changes
  }

  async accept(changes: readonly Change[], options: CommitOptions): Promise<Receipt> {
    const { lower, touched } = this.#layers
    await touched.begin(changes)
    const receipt = await lower.commit(changes, options).catch(async (error) => {
      await touched.abandon()
      throw error
    })
    await this.#moveBases(receipt, changes)
    if ((await this.pending()).length === 0 && (await this.#equalsLower())) await this.discard()
    return receipt
  }

  /** Makes what was committed to `lower` the states and the bases of these paths. */
  async #moveBases(receipt: Receipt, changes: readonly Change[]): Promise<void> {
    const { lower, touched } = this.#layers
    // Before the bases move: after a failure in between, the same merge can be repeated.
    await this.#takeOver(changes)
    await touched.rebase(receipt, changes, async (path) => (await lower.stat(path))?.tag)
  }

  /** Finishes a commit to `lower` that was interrupted after it was made. Of one that was not made, it removes the note. */
  async #finish(versions: ReadonlyMap<Path, Version>): Promise<void> {
    const { lower, touched } = this.#layers
    const changes: Change[] = []
    for (const [path, version] of versions) {
      if (!touched.has(path)) continue
      const to = await stateAt(lower, path)
      if (sameVersion(versionOf(to), version)) changes.push({ path, expect: 'any', to })
    }
    const applied = changes.map(({ path, to }) => ({ path, before: null, after: versionOf(to) }))
    await this.#moveBases({ applied }, changes)
  }

  /** Gives paths of the overlay the states that were committed for them to `lower`, where a merge changed them. */
  async #takeOver(changes: readonly Change[]): Promise<void> {
    const { upper, touched } = this.#layers
    const checked: CheckedChange[] = []
    for (const { path, to } of changes) {
      if (!touched.has(path) || sameState(await stateAt(upper, path), to, { modes: true })) continue
      checked.push({ change: { path, expect: 'any', to }, before: versionOf(to), isNoChange: false })
    }
    await this.#write(checked, { durability: 'durable' })
  }

  async baseOf(path: Path): Promise<{ readonly version: Version; readonly content?: Uint8Array } | undefined> {
    const { touched } = this.#layers
    await touched.ready()
    const entry = touched.get(path)
    if (entry === undefined) return undefined
    const { base: version, content } = entry
    // The file can have changed between its version and the reading of its content.
    const isKept = version?.type === 'file' && content !== undefined && sha256(content) === version.sha256
    return { version, ...(isKept ? { content } : {}) }
  }

  async discard(): Promise<void> {
    await this.#layers.touched.ready()
    await this.#layers.touched.clear()
  }

  async hold(changes: readonly Pick<Change, 'path' | 'to'>[]): Promise<void> {
    const { touched } = this.#layers
    await touched.ready()
    const states = await this.#statesToHold(changes)
    const checked = states.map((change) => ({ change, before: versionOf(change.to), isNoChange: false }))
    await this.#write(checked, { durability: 'relaxed' })
  }

  /** The states that the overlay shows now, of all paths that the changes affect. */
  async #statesToHold(changes: readonly Pick<Change, 'path' | 'to'>[]): Promise<Change[]> {
    const states: Change[] = []
    const waiting: Pick<Change, 'path' | 'to'>[] = [...changes]
    const visited = new Set<Path>()
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { path, to } = next
      if (visited.has(path) || this.#layers.locate(path) === 'upper') continue
      visited.add(path)
      const state = await stateAt(this.reads, path)
      if (state?.type === 'directory') {
        if (to?.type === 'directory') continue
        // A directory in the upper layer hides the lower one, so its entries must be held as well.
        for (const { name } of await this.reads.list(path)) waiting.push({ path: `${path}/${name}` as Path, to: null })
      }
      states.push({ path, expect: 'any', to: state })
    }
    return states
  }

  /** The version that `lower` must have for a change of this path to be accepted. */
  async #expectationOf(path: Path, base: Version, tag: string | undefined, to: EntryState): Promise<Change['expect']> {
    const { lower } = this.#layers
    if (base === null) return 'absent'
    if (base.type === 'file') return { sha256: base.sha256 }
    const now = await lower.stat(path)
    // The entries of a deleted directory have their own expectations.
    if (base.type === 'directory' && to === null && (now === undefined || now.type === 'directory')) return 'any'
    // A directory or link that was recreated has another tag, but is the same.
    const isSame = now?.type === base.type && sameVersion(await versionAt(lower, path), base)
    return { tag: isSame && now !== undefined ? now.tag : (tag ?? '') }
  }

  /** Changes that conflict, for entries that others created below a directory that was deleted here. */
  async #foreignEntries(path: Path): Promise<Change[]> {
    const { lower, touched } = this.#layers
    if ((await lower.stat(path))?.type !== 'directory') return []
    const entries = await lower.list(path)
    const foreign = entries.map(({ name }) => `${path}/${name}` as Path).filter((child) => !touched.has(child))
    return foreign.map((child) => ({ path: child, expect: { sha256: NO_VERSION }, to: null }))
  }

  /** Whether `lower` shows the same as this overlay. Paths held against changes there may differ, and must stay. */
  async #equalsLower(): Promise<boolean> {
    const { lower, upper, touched } = this.#layers
    for (const path of touched.paths()) {
      if (!sameVersion(await versionAt(lower, path), await versionAt(upper, path))) return false
      if ((await this.#foreignEntries(path)).length > 0) return false
    }
    return true
  }
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

/** Returns whether a backend is an overlay, with changes to accept or discard. */
export function isOverlay(backend: Backend): backend is OverlayBackend {
  checkArgument('isOverlay()', 'backend', backend, isObjectValue)
  return 'pending' in backend && 'accept' in backend
}
