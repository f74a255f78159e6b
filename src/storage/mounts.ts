import { ToolError } from '../errors.ts'
import {
  ancestorsOf,
  childOf,
  display,
  isWithin,
  type LogicalPath,
  nameOf,
  type Path,
  parentOf,
  parsePath,
  quote,
  ROOT,
} from '../paths/logical-path.ts'
import { sameBytes } from '../util/bytes.ts'
import { isRecordOf, refuseSurplus } from '../util/check-options.ts'
import { createSerialQueue, type SerialQueue } from '../util/serial-queue.ts'
import type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  DirectoryEntry,
  DirectoryNode,
  EntryState,
  OutsideListener,
  Receipt,
  ScanVisit,
  Stat,
  TreeNode,
  Version,
} from './backend.ts'
import { validateChanges } from './change-set.ts'
import { isBackend } from './is-backend.ts'
import { linkTarget } from './link-target.ts'
import { pinAll } from './pin.ts'
import { stateAt } from './versions.ts'
import type { ReadVerb } from './wrong-type.ts'

/**
 * Combines several backends into one tree, each under a path. The backend under `''` is the root and is required. The
 * longest path wins, and hides what the backend below has there. Mount points and their parent directories exist even if
 * the backend below lacks them, and cannot be written, deleted or replaced (`POLICY_DENIED`). Links do not cross mounts:
 * each resolves within its own backend.
 *
 * A change set may touch one persistent backend and any number of volatile ones; with two persistent ones it is refused
 * (`INVALID_INPUT`). The volatile backends commit first, and are restored if the persistent one fails.
 *
 * `links` is declared if any part has it, every other capability only if all parts have it.
 *
 * @throws TypeError without a root, for a path that `parsePath` refuses, for a duplicate path
 * @example
 * const backend = mounts({ '': memory({ 'a.txt': 'hello\n' }), notes: memory() })
 */
export function mounts(parts: Readonly<Record<string, Backend>>): Backend {
  refuseSurplus('mounts()', 1, arguments)
  const table = mountTable(isRecordOf(isBackend)(parts, '', 'mounts()') as typeof parts)
  const backend = backendOver(table)
  tables.set(backend, table)
  return backend
}

/** Nested mounts are flattened, so that the rules hold across all of them. */
const tables = new WeakMap<Backend, MountTable>()

interface Mount {
  readonly at: Path
  readonly backend: Backend
}

interface MountTable {
  /** Longest path first; the root is the last. */
  readonly all: readonly Mount[]
  /** The names of mount points and their parents, by directory. */
  readonly namesIn: ReadonlyMap<string, ReadonlySet<string>>
  owner(path: LogicalPath): Mount
  /** Whether a path is a mount point or a parent of one. */
  isFixed(path: LogicalPath): boolean
}

function mountTable(parts: Readonly<Record<string, Backend>>): MountTable {
  const byPath = new Map<Path, Backend>()
  const add = (at: Path, backend: Backend): void => {
    if (byPath.has(at)) throw new TypeError(`mounts(): ${quote(display(at))} is given twice`)
    byPath.set(at, backend)
  }
  for (const [key, backend] of Object.entries(parts)) {
    const at = mountPath(key)
    const inner = tables.get(backend)
    if (inner === undefined) add(at, backend)
    else for (const mount of inner.all) add(joined(at, mount.at), mount.backend)
  }
  if (!byPath.has(ROOT)) throw new TypeError("mounts(): a root is missing; add one under ''")
  const all = Array.from(byPath, ([at, backend]) => ({ at, backend }))
  all.sort((a, b) => b.at.length - a.at.length)
  const namesIn = new Map<string, Set<string>>()
  for (const { at } of all) {
    for (const path of at === '' ? [] : [at, ...ancestorsOf(at)]) {
      const parent = parentOf(path)
      namesIn.set(parent, (namesIn.get(parent) ?? new Set<string>()).add(nameOf(path)))
    }
  }
  const owner = (path: LogicalPath) => all.find(({ at }) => isWithin(path, at)) as Mount
  const isFixed = (path: LogicalPath) => path === '' || (namesIn.get(parentOf(path))?.has(nameOf(path)) ?? false)
  return { all, namesIn, owner, isFixed }
}

function backendOver(table: MountTable): Backend {
  const { all } = table
  const turns = createSerialQueue()
  return {
    capabilities: combined(all.map(({ backend }) => backend.capabilities)),

    async canonical(path, options) {
      if (table.isFixed(path)) return path as Path
      const mount = table.owner(path)
      const resolved = joined(mount.at, await within(mount, () => mount.backend.canonical(inner(mount, path), options)))
      if (table.owner(resolved) !== mount) {
        throw new ToolError('PATH_REJECTED', `Path ${quote(path)} leads through a link into another mount`, { path })
      }
      return resolved
    },

    stat: (path) => statAt(table, path),
    list: (path) => listAt(table, path),

    async read(path, range) {
      const mount = fileOwner(table, 'read', path)
      return within(mount, () => mount.backend.read(inner(mount, path), range))
    },

    async readLink(path) {
      const mount = fileOwner(table, 'read link', path)
      return within(mount, () => mount.backend.readLink(inner(mount, path)))
    },

    commit: (changes, options) => commitSet(table, turns, changes, options),
    ...(hasStage(table) && {
      stage(path) {
        const mount = table.owner(path)
        return within(mount, () => mount.backend.stage?.(inner(mount, path)))
      },
    }),
    async checkPlaces(changes) {
      const { groups } = await divided(changes, table)
      for (const { mount, changes, parents } of groups) {
        await within(mount, () => mount.backend.checkPlaces?.([...parents, ...changes]))
      }
    },
    scan: (paths, visit, maxBytes) => scanAll(table, paths, visit, maxBytes),

    ...(all.every(({ backend }) => backend.tree) && { tree: combinedTree(table) }),
    ...(all.some(({ backend }) => backend.watch) && {
      watch: (path, onChange, options) => watchAll(table, path, onChange, options),
    }),
    ...pinAll(all.map(({ backend }) => backend)),
    ...(all.every(({ backend }) => backend.fork) && {
      fork: () => mounts(Object.fromEntries(all.map(({ at, backend }) => [at, (backend.fork as () => Backend)()]))),
    }),

    containsPhysicalPath: (physicalPath) =>
      all.some(({ backend }) => backend.containsPhysicalPath?.(physicalPath) === true),

    async close() {
      await Promise.all(all.map(({ backend }) => backend.close()))
    },
  }
}

async function statAt(table: MountTable, path: Path): Promise<Stat | undefined> {
  const mount = table.owner(path)
  const stat = await within(mount, () => mount.backend.stat(inner(mount, path)))
  return table.isFixed(path) && stat?.type !== 'directory' ? MOUNT_STAT : stat
}

async function listAt(table: MountTable, path: Path): Promise<readonly DirectoryEntry[]> {
  const mount = table.owner(path)
  const mountNames = table.namesIn.get(path)
  const list = () => within(mount, () => mount.backend.list(inner(mount, path)))
  if (mountNames === undefined) return list()
  const stat = await within(mount, () => mount.backend.stat(inner(mount, path)))
  const listed = stat?.type === 'directory' ? await list() : []
  const entries: DirectoryEntry[] = listed.filter(({ name }) => !mountNames.has(name))
  for (const name of mountNames) entries.push({ name, type: 'directory' })
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The mount of a path that is read as a file or a link. */
function fileOwner(table: MountTable, verb: ReadVerb, path: Path): Mount {
  if (table.isFixed(path)) {
    throw new ToolError('IS_DIRECTORY', `Cannot ${verb} ${quote(display(path))}: it is a directory`, { path })
  }
  return table.owner(path)
}

async function commitSet(
  table: MountTable,
  turns: SerialQueue,
  changes: readonly Change[],
  options: CommitOptions,
): Promise<Receipt> {
  validateChanges(changes, hasStage(table))
  const { fixed, groups } = await divided(changes, table)
  const applied = new Map<Path, Receipt['applied'][number]>()
  const receipts =
    groups.length < 2 ? await commitAll(groups, options) : await turns.next(() => commitAll(groups, options))
  for (const entry of receipts) applied.set(entry.path, entry)
  for (const { path } of fixed) applied.set(path, { path, before: DIRECTORY_VERSION, after: DIRECTORY_VERSION })
  return { applied: changes.map(({ path }) => applied.get(path) as Receipt['applied'][number]) }
}

/** Scans runs of paths of the same mount at once. */
async function scanAll(
  table: MountTable,
  paths: readonly Path[],
  visit: ScanVisit,
  maxBytes: number | undefined,
): Promise<void> {
  let isStopped = false
  for (let start = 0; start < paths.length && !isStopped; ) {
    const mount = table.owner(paths[start] as Path)
    let end = start + 1
    while (end < paths.length && table.owner(paths[end] as Path) === mount) end += 1
    const run = paths.slice(start, end).filter((path) => !table.isFixed(path))
    const visitUntilStopped: ScanVisit = (path, bytes, stat) => {
      isStopped = !visit(path, bytes, stat)
      return !isStopped
    }
    await scanOne(mount, run, visitUntilStopped, maxBytes)
    start = end
  }
}

const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })
const MOUNT_STAT: Stat = Object.freeze({ type: 'directory', size: 0, tag: 'mount' })

/** Whether contents can be stored part by part, in every part of the tree. */
function hasStage({ all }: MountTable): boolean {
  return all.every(({ backend }) => backend.stage !== undefined)
}

function combined(all: readonly Capabilities[]): Capabilities {
  const times = new Set(all.map((capabilities) => capabilities.times))
  return Object.freeze({
    links: all.some(({ links }) => links),
    modes: all.every(({ modes }) => modes),
    times: times.has('none') ? 'none' : times.has('own') ? 'own' : 'set',
    caseSensitive: all.every(({ caseSensitive }) => caseSensitive),
    authority: all.every(({ authority }) => authority === 'sole') ? 'sole' : 'shared',
    persistent: all.every(({ persistent }) => persistent),
    atomic: all.every(({ atomic }) => atomic === 'set') ? 'set' : 'file',
  })
}

/** Returns the changes of mount points and their parents. They may only ask for a directory, which changes nothing. */
async function checkFixed(changes: readonly Change[], table: MountTable): Promise<Set<Change>> {
  const fixed = new Set<Change>()
  for (const change of changes) {
    const { path, expect, to } = change
    if (!table.isFixed(path)) continue
    if (to?.type !== 'directory') {
      throw new ToolError('POLICY_DENIED', `Cannot change ${quote(path)}: it is a mount point, or leads to one`, {
        path,
      })
    }
    if (expect === 'absent') {
      throw new ToolError('ALREADY_EXISTS', `Cannot create ${quote(path)}: it already exists`, { path })
    }
    if (expect !== 'any' && !('tag' in expect && (await statAt(table, path))?.tag === expect.tag)) {
      throw new ToolError('WRITE_CONFLICT', `Cannot change ${quote(path)}: it is a mount point, or leads to one`, {
        path,
        currentSha256: null,
      })
    }
    fixed.add(change)
  }
  return fixed
}

interface Group {
  readonly mount: Mount
  readonly changes: readonly Change[]
  /** Parents of mount points, which the backend itself may lack. */
  readonly parents: readonly Change[]
}

/** Divides changes into those of mount points and their parents, which exist, and groups by backend. */
async function divided(
  changes: readonly Change[],
  table: MountTable,
): Promise<{ fixed: ReadonlySet<Change>; groups: readonly Group[] }> {
  const fixed = await checkFixed(changes, table)
  const groups = grouped(
    changes.filter((change) => !fixed.has(change)),
    table,
  )
  if (groups.filter(({ mount }) => mount.backend.capabilities.persistent).length > 1) {
    const { path } = changes[0] as Change
    throw new ToolError('INVALID_INPUT', `Cannot change ${quote(path)}: the set touches two persistent mounts`, {
      path,
    })
  }
  return { fixed, groups }
}

/** Groups changes by backend, with paths of that backend. Persistent backends come last. */
function grouped(changes: readonly Change[], table: MountTable): Group[] {
  const groups = new Map<Mount, { changes: Change[]; parents: Map<Path, Change> }>()
  for (const { path, expect, to, from } of changes) {
    const mount = table.owner(path)
    const group = groups.get(mount) ?? { changes: [], parents: new Map<Path, Change>() }
    groups.set(mount, group)
    if (to?.type === 'link') refuseCrossingLink(table, mount, path, to.target)
    const origin = from !== undefined && table.owner(from) === mount ? { from: inner(mount, from) } : {}
    group.changes.push({ path: inner(mount, path), expect, to, ...origin })
    if (to === null) continue
    for (const above of ancestorsOf(path)) {
      if (above === mount.at) break
      if (!table.isFixed(above)) continue
      const parent = inner(mount, above)
      group.parents.set(parent, { path: parent, expect: 'any', to: { type: 'directory' } })
    }
  }
  const all = Array.from(groups, ([mount, group]) => ({
    mount,
    changes: group.changes,
    parents: [...group.parents.values()],
  }))
  const isPersistent = ({ mount }: Group) => Number(mount.backend.capabilities.persistent)
  return all.sort((a, b) => isPersistent(a) - isPersistent(b))
}

function refuseCrossingLink(table: MountTable, mount: Mount, path: Path, target: string): void {
  const leadsTo = joined(mount.at, linkTarget(inner(mount, path), target) as Path)
  if (table.owner(leadsTo) === mount) return
  throw new ToolError('PATH_REJECTED', `Cannot link ${quote(path)} to ${quote(target)}: it leads into another mount`, {
    path,
  })
}

/**
 * Commits one group after another. The persistent backend comes last: its success is the success of the set. The volatile
 * backends before it are empty after a crash, and are restored after a failure.
 */
async function commitAll(groups: readonly Group[], options: CommitOptions): Promise<Receipt['applied'][number][]> {
  const committed: Done[] = []
  const applied: Receipt['applied'][number][] = []
  try {
    for (const { mount, changes, parents } of groups) {
      const { backend } = mount
      const set = [...parents, ...changes]
      const before = groups.length < 2 ? [] : await Promise.all(set.map(({ path }) => stateAt(backend, path)))
      const receipt = await within(mount, () => backend.commit(set, options))
      committed.push({ mount, changes: set, before })
      for (const entry of receipt.applied.slice(parents.length)) {
        applied.push({ ...entry, path: joined(mount.at, entry.path) })
      }
    }
    return applied
  } catch (error) {
    for (const one of committed.reverse()) await putBack(one, options)
    throw error
  }
}

/** A commit to a volatile backend, and the states before. */
interface Done {
  readonly mount: Mount
  readonly changes: readonly Change[]
  readonly before: readonly EntryState[]
}

/** Undoes a commit. Fails if another writer has changed the same paths since. */
async function putBack({ mount, changes, before }: Done, options: CommitOptions): Promise<void> {
  const { backend } = mount
  const { signal: _, ...commitOptions } = options
  try {
    const set: Change[] = []
    for (const [i, { path, to }] of changes.entries()) {
      const state = before[i] ?? null
      if (to?.type === 'directory' && state?.type === 'directory') continue
      const now = await backend.stat(path)
      if (to?.type !== now?.type) throw new Error('Another writer came in between')
      if (to?.type === 'file' && !sameBytes(to.bytes, (await backend.read(path)).bytes)) {
        throw new Error('Another writer came in between')
      }
      set.push({ path, expect: now === undefined ? 'absent' : { tag: now.tag }, to: state })
    }
    await backend.commit(set, commitOptions)
  } catch {
    const at = display(mount.at)
    throw new ToolError(
      'BACKEND_ERROR',
      `Cannot take back the changes below ${quote(at)}: another writer came in between`,
      {
        path: mount.at,
        hint: 'Another mount refused the change, but what was written here stayed. Read the files below this path again.',
      },
    )
  }
}

/** Watches the mount of a path, and those below it. */
async function watchAll(table: MountTable, path: Path, ...[onChange, options]: WatchArguments): Promise<() => void> {
  const own = table.owner(path)
  const ends: (() => void)[] = []
  const end = () => {
    for (const each of ends) each()
  }
  try {
    for (const mount of table.all) {
      const { at, backend } = mount
      if (mount !== own && (options?.recursive === false || !isWithin(at, path))) continue
      const start = mount === own ? inner(mount, path) : ROOT
      if (backend.watch === undefined || (await backend.stat(start)) === undefined) continue
      const onMountChange: OutsideListener = (paths) => {
        const shown = paths?.map((each) => joined(at, each)).filter((each) => table.owner(each) === mount)
        if (shown?.length !== 0) onChange(shown)
      }
      ends.push(await within(mount, () => backend.watch?.(start, onMountChange, options) as Promise<() => void>))
    }
  } catch (error) {
    end()
    throw error
  }
  return end
}

type WatchArguments = Parameters<NonNullable<Backend['watch']>> extends [Path, ...infer Rest] ? Rest : never

async function scanOne(
  mount: Mount,
  paths: readonly Path[],
  visit: ScanVisit,
  maxBytes: number | undefined,
): Promise<void> {
  const { backend } = mount
  const innerPaths = paths.map((path) => inner(mount, path))
  if (backend.scan) {
    const visitJoined: ScanVisit = (path, bytes, stat) => visit(joined(mount.at, path), bytes, stat)
    await within(mount, () => backend.scan?.(innerPaths, visitJoined, maxBytes))
    return
  }
  for (const path of innerPaths) {
    if ((await backend.stat(path))?.type !== 'file') continue
    const { bytes, stat } = await within(mount, () => backend.read(path))
    if (!visit(joined(mount.at, path), bytes, stat)) return
  }
}

/**
 * Combines the trees of all parts. Nodes of parents of mount points are new, and stay the same while their parts do, so
 * that walks can cache them. All other nodes are those of the parts.
 */
function combinedTree(table: MountTable): () => DirectoryNode {
  const cache = new Map<string, { below: TreeNode | undefined; children: readonly TreeNode[]; node: DirectoryNode }>()

  function nodeOf(path: Path, below: TreeNode | undefined): DirectoryNode {
    const mount = table.all.find(({ at }) => at === path)
    const part = mount === undefined ? below : (mount.backend.tree as () => DirectoryNode)()
    const directory = part?.type === 'directory' ? part : undefined
    const names = [...(table.namesIn.get(path) ?? [])].sort()
    if (names.length === 0 && directory !== undefined) return directory
    const children = names.map((name) => nodeOf(childOf(path, name), directory?.get(name)))
    const last = cache.get(path)
    if (last?.below === directory && last?.children.every((child, i) => child === children[i])) return last.node
    const node = overlaid(directory, new Map(names.map((name, i) => [name, children[i] as DirectoryNode])))
    cache.set(path, { below: directory, children, node })
    return node
  }

  return () => nodeOf(ROOT, undefined)
}

/** Returns a directory with some entries replaced or added. `over` is sorted. */
function overlaid(directory: DirectoryNode | undefined, over: ReadonlyMap<string, DirectoryNode>): DirectoryNode {
  return {
    type: 'directory',
    stat: directory?.stat ?? MOUNT_STAT,
    get: (name) => over.get(name) ?? directory?.get(name),
    *entries() {
      const waiting = [...over]
      for (const entry of directory?.entries() ?? []) {
        while (waiting[0] !== undefined && waiting[0][0] < entry[0]) yield waiting.shift() as [string, DirectoryNode]
        if (!over.has(entry[0])) yield entry
      }
      yield* waiting
    },
  }
}

/** Runs a read or a commit of a part, and tells its refusals with the paths of the whole tree. */
async function within<T>(mount: Mount, action: () => Promise<T> | undefined): Promise<T> {
  try {
    return (await action()) as T
  } catch (error) {
    if (mount.at === '' || !(error instanceof ToolError)) throw error
    const { path } = error.details
    if (path === undefined) throw error
    const full = joined(mount.at, path as Path)
    const message = error.message.replace(quote(display(path as Path)), () => quote(full))
    throw new ToolError(error.code, message, { ...error.details, path: full })
  }
}

/** A path of the whole tree as its backend knows it. */
function inner<P extends LogicalPath>({ at }: Mount, path: P): P {
  if (at === '') return path
  return path.slice(at.length + 1) as P
}

function joined(at: Path, path: Path): Path {
  return path === '' ? at : childOf(at, path)
}

function mountPath(key: string): Path {
  if (key === '') return ROOT
  try {
    return parsePath(key) as Path
  } catch (error) {
    const help = key.startsWith('/') ? `: write ${quote(key.replace(/^\/+/, ''))}` : ''
    throw new TypeError(`mounts(): ${(error as Error).message}${help}`, { cause: error })
  }
}
