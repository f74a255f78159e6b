import { sha256 } from '../files/hash/sha256.ts'
import type { Backend, Change, CommitOptions, EntryState, FileRead, Receipt, Version } from '../storage/backend.ts'
import { applyOrder } from '../storage/change-set.ts'
import { isBackend } from '../storage/is-backend.ts'
import { checkArgument, refuseSurplus } from '../util/check-options.ts'
import { createInjector, type Fault, type FaultOptions, type Injector } from './faults.ts'

/** Methods of a backend in which faults can occur. */
export type BackendOperation =
  | 'canonical'
  | 'stat'
  | 'list'
  | 'read'
  | 'readLink'
  | 'commit'
  | 'scan'
  | 'statDirectories'
  | 'walk'

const operations = Object.keys({
  canonical: true,
  stat: true,
  list: true,
  read: true,
  readLink: true,
  commit: true,
  scan: true,
  statDirectories: true,
  walk: true,
} satisfies Record<BackendOperation, true>) as BackendOperation[]

/** A fault of a backend. */
export type BackendFault = Fault<BackendOperation>

/** A backend with injected faults. */
export interface FaultyBackend
  extends Backend,
    Pick<Injector<BackendOperation>, 'calls' | 'crashed' | 'inject' | 'heal'> {}

/**
 * Wraps a backend and injects faults: errors by operation, path and count; latency; short reads and writes; concurrent writers; and
 * a crash, after which every call fails while the wrapped backend contains what the next process would find. A commit during a
 * crash is applied as far as the backend's `atomic` allows: the whole set or nothing, or some of the files in the order in which
 * sets are applied. The same calls with the same seed have the same faults.
 *
 * `tree` of a memory backend is hidden, because it could be read without a call. Forks share the faults and their counts.
 *
 * @throws TypeError for an invalid fault
 * @example
 * const full = faulty(memory({ 'a.txt': 'one\n' }), { on: 'commit', from: 2, error: 'NO_SPACE' })
 * const workspace = await createWorkspace({ backend: full, policy: 'autonomous' })
 * await workspace.call('append_file', { path: 'a.txt', content: 'two\n' })
 * console.log(await workspace.call('append_file', { path: 'a.txt', content: 'three\n' })) // { ok: false, code: 'NO_SPACE', … }
 */
export function faulty(
  backend: Backend,
  faults: BackendFault | readonly BackendFault[] = [],
  options: FaultOptions = {},
): FaultyBackend {
  refuseSurplus('faulty()', 3, arguments)
  checkArgument('faulty()', 'backend', backend, isBackend)
  const injector = createInjector<BackendOperation>(operations, faults, options)
  return Object.defineProperties(around(backend, injector), {
    calls: { get: () => injector.calls, enumerable: true },
    crashed: { get: () => injector.crashed, enumerable: true },
    inject: { value: injector.inject, enumerable: true },
    heal: { value: injector.heal, enumerable: true },
  }) as FaultyBackend
}

function around(backend: Backend, faults: Injector<BackendOperation>): Backend {
  const { checkPlaces, scan, stage, statDirectories, walk, watch, containsPhysicalPath, fork } = backend
  return {
    capabilities: backend.capabilities,
    canonical: (path, options) => faults.around('canonical', [path], { act: () => backend.canonical(path, options) }),
    stat: (path) => faults.around('stat', [path], { act: () => backend.stat(path) }),
    list: (path) => faults.around('list', [path], { act: () => backend.list(path) }),
    read: (path, range) =>
      faults.around('read', [path], {
        act: () => backend.read(path, range),
        short: async (maxBytes) => shortRead(await backend.read(path, range), maxBytes),
      }),
    readLink: (path) => faults.around('readLink', [path], { act: () => backend.readLink(path) }),
    commit: (changes, options) =>
      faults.around(
        'commit',
        changes.map(({ path }) => path),
        {
          act: () => backend.commit(changes, options),
          short: (maxBytes) => shortCommit(backend, changes, options, maxBytes),
          tear: (random) => tornCommit(backend, changes, options, random),
        },
      ),
    ...(stage && { stage: (path) => stage.call(backend, path) }),
    ...(checkPlaces && { checkPlaces: (changes) => checkPlaces.call(backend, changes) }),
    ...(scan && {
      scan: (paths, visit, maxBytes) =>
        faults.around('scan', paths, {
          act: () => scan.call(backend, paths, visit, maxBytes),
          short: (maxBytes) =>
            scan.call(backend, paths, (path, bytes, stat) => visit(path, bytes.subarray(0, maxBytes), stat)),
        }),
    }),
    ...(statDirectories && {
      statDirectories: (directories, previous) =>
        faults.around('statDirectories', directories, {
          act: () => statDirectories.call(backend, directories, previous),
        }),
    }),
    ...(walk && {
      walk: (start, visitor) => faults.around('walk', [start], { act: () => walk.call(backend, start, visitor) }),
    }),
    ...(watch && { watch: (path, onChange, options) => watch.call(backend, path, onChange, options) }),
    ...(containsPhysicalPath && {
      containsPhysicalPath: (physicalPath) => containsPhysicalPath.call(backend, physicalPath),
    }),
    ...(fork && { fork: () => around(fork.call(backend), faults) }),
    close: () => backend.close(),
  }
}

function shortRead({ bytes, stat }: FileRead, maxBytes: number): FileRead {
  return { bytes: bytes.subarray(0, maxBytes), stat }
}

/** Stores the first bytes and reports success for all, like a disk that loses data. */
async function shortCommit(
  backend: Backend,
  changes: readonly Change[],
  options: CommitOptions,
  maxBytes: number,
): Promise<Receipt> {
  const shortened = changes.map((change) => ({ ...change, to: shortState(change.to, maxBytes) }))
  const { applied } = await backend.commit(shortened, options)
  return {
    applied: applied.map((entry, i) => ({ ...entry, after: claimedVersion(entry.after, changes[i]?.to ?? null) })),
  }
}

function shortState(to: EntryState, maxBytes: number): EntryState {
  if (to?.type !== 'file') return to
  const { sharedPrefix: _, content: __, ...state } = to
  return { ...state, bytes: to.bytes.slice(0, maxBytes) }
}

function claimedVersion(after: Version, requested: EntryState): Version {
  if (after?.type !== 'file' || requested?.type !== 'file') return after
  const { content = { sha256: sha256(requested.bytes), size: requested.bytes.length } } = requested
  return { ...after, sha256: content.sha256, size: content.size }
}

/** Applies a part of a commit. The caller never receives a result. */
async function tornCommit(
  backend: Backend,
  changes: readonly Change[],
  options: CommitOptions,
  random: () => number,
): Promise<void> {
  const ordered = applyOrder(changes)
  const isWhole = backend.capabilities.atomic === 'set'
  const appliedCount = isWhole ? (random() < 0.5 ? 0 : ordered.length) : Math.floor(random() * (ordered.length + 1))
  try {
    if (isWhole && appliedCount > 0) await backend.commit(changes, options)
    if (!isWhole)
      for (const { from: _, ...change } of ordered.slice(0, appliedCount)) await backend.commit([change], options)
  } catch {
    // The commit would have been refused.
  }
}
