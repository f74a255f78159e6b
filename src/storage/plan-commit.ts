import { sha256Async } from '../files/hash/sha256.ts'
import { addAncestors, type Path, parentOf } from '../paths/logical-path.ts'
import { isUint8Array } from '../util/bytes.ts'
import { checkArgument, checkOptions, isFunction, isObjectWith, must, type OptionTable } from '../util/check-options.ts'
import { mapConcurrent } from '../util/map-concurrent.ts'
import type { Capabilities, Change, Receipt, Stat, Version } from './backend.ts'
import { applyOrder, checkChangeSet, type FileOf, isChangeSet, validateChanges } from './change-set.ts'

/*
 * Plans commits for backends that store entries (path, type, stat) and, separately, the contents of files under a key of
 * type `C`. Planning is synchronous and changes nothing.
 */

/** The stat of a stored entry, with every field. */
export type StoredStat = Stat & Required<Pick<Stat, 'mode' | 'modifiedAt'>>

/** An entry of a stored tree. Contents are immutable, and each belongs to one path. */
export type StoredEntry<C> =
  | { readonly type: 'directory'; readonly stat: StoredStat }
  | { readonly type: 'link'; readonly stat: StoredStat; readonly target: string }
  | { readonly type: 'file'; readonly stat: StoredStat; readonly sha256: string; readonly content: C }
  /** An entry that is damaged in the storage. It is listed, and can be neither read nor changed. */
  | { readonly type: 'other'; readonly stat: StoredStat }

/** The tree before a commit. */
export interface StoredTree<C> {
  /** The entry at a path; `undefined` for a missing path. */
  at(path: Path): StoredEntry<C> | undefined
  /** The names in a directory. */
  names(directory: Path): Iterable<string>
}

/** What a commit stores and deletes. */
export interface StoredCommit<C> {
  /**
   * The new entries of changed paths, and of directories whose names change; `undefined` deletes the entry. They can be
   * applied one by one in this order.
   */
  readonly steps: ReadonlyMap<Path, StoredEntry<C> | undefined>
  /** Contents to store. */
  readonly fresh: ReadonlyMap<C, Uint8Array>
  /** Contents that no path has any more, with their sizes in bytes. */
  readonly dropped: readonly { readonly content: C; readonly size: number }[]
  readonly receipt: Receipt
}

/** The present tree, and how the storage names what is new. */
export interface StoredCommitOptions<C> {
  readonly tree: StoredTree<C>
  /** The sha256 of all bytes in the set, from {@link hashBytes}. */
  readonly hashes: ReadonlyMap<Uint8Array, string>
  /** Returns a tag that no entry ever had. */
  readonly tag: () => string
  /** Returns the key for a content: a new key, or the key that the same bytes got before. */
  readonly content: (bytes: Uint8Array, path: Path) => C
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Permission bits of a new file. */
export const FILE_MODE = 0o644
const DIRECTORY_MODE = 0o755
const LINK_MODE = 0o777
const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

/** The root of an empty tree. */
export const emptyRoot: StoredEntry<never> = Object.freeze({ type: 'directory', stat: directoryStat(0, '0') })

/** Capabilities of a storage that keeps whole {@link StoredEntry}s and has one writer. */
export const storedCapabilities: Capabilities = Object.freeze({
  links: true,
  modes: true,
  times: 'set',
  caseSensitive: true,
  authority: 'sole',
  persistent: true,
  atomic: 'set',
})

const planTable: OptionTable<StoredCommitOptions<unknown>> = {
  tree: isObjectWith('a stored tree', 'at', 'names'),
  hashes: isObjectWith('the hashes of hashBytes()', 'get'),
  tag: isFunction,
  content: isFunction,
  at: must('milliseconds since 1970', Number.isFinite),
}

/** Hashes all bytes of a change set, so that the commit itself can be planned synchronously. */
export async function hashBytes(changes: readonly Change[]): Promise<ReadonlyMap<Uint8Array, string>> {
  checkArgument('hashBytes()', 'changes', changes, isChangeSet)
  const hashes = new Map<Uint8Array, string>()
  for (const { to } of changes) {
    // A malformed state is refused later, by `checkChangeSet`.
    if (to?.type !== 'file' || !isUint8Array(to.bytes) || hashes.has(to.bytes)) continue
    hashes.set(to.bytes, await sha256Async(to.bytes))
  }
  return hashes
}

/**
 * Returns the paths whose entries the check of a change set reads: the changed paths, the paths they are moved from, and their
 * ancestors.
 *
 * @throws ToolError for changes that are refused whatever the tree is
 */
export function pathsOfCommit(changes: readonly Change[]): ReadonlySet<Path> {
  validateChanges(changes)
  const paths = new Set<Path>()
  for (const { path } of changes) addAncestors(paths, path)
  for (const { path, from = path } of changes) paths.add(path).add(from)
  return paths
}

/**
 * Loads the part of a stored tree that the check of a change set reads, for storages whose lookups are asynchronous: the
 * changed paths, the paths they are moved from, their ancestors, and the names in directories that are deleted or
 * replaced. No other commit may run until the planned one is applied.
 */
export async function loadStoredTree<C>(
  changes: readonly Change[],
  entryAt: (path: Path) => Promise<StoredEntry<C> | undefined>,
  entriesIn: (directory: Path) => Promise<readonly { readonly name: string }[]>,
): Promise<StoredTree<C>> {
  checkArgument('loadStoredTree()', 'changes', changes, isChangeSet)
  checkArgument('loadStoredTree()', 'entryAt', entryAt, isFunction)
  checkArgument('loadStoredTree()', 'entriesIn', entriesIn, isFunction)
  const paths = pathsOfCommit(changes)
  const entries = new Map<Path, StoredEntry<C> | undefined>()
  await mapConcurrent([...paths], async (path) => {
    entries.set(path, await entryAt(path))
  })
  const emptied = changes.filter(({ path, to }) => to?.type !== 'directory' && entries.get(path)?.type === 'directory')
  const names = new Map<Path, readonly string[]>()
  await mapConcurrent(emptied, async ({ path }) => {
    const entries = await entriesIn(path)
    names.set(
      path,
      entries.map(({ name }) => name),
    )
  })
  return { at: (path) => entries.get(path), names: (directory) => names.get(directory) ?? [] }
}

/**
 * Checks a change set and plans its commit: entries to store and to delete, contents to store and to drop, directories
 * that get a new stat, and the receipt. Permission bits are those of `to.mode`, else those of the file at the path, else
 * those of the file at `from`, else 0o644. A moved file keeps its content key.
 *
 * @throws ToolError whatever {@link checkChangeSet} throws
 */
export function planStoredCommit<C>(changes: readonly Change[], options: StoredCommitOptions<C>): StoredCommit<C> {
  checkArgument('planStoredCommit()', 'changes', changes, isChangeSet)
  checkOptions('planStoredCommit()', options, planTable, 'tree', 'hashes', 'tag', 'content', 'at')
  const { tree, hashes, tag, at } = options
  const cache = new Map<Path, StoredEntry<C> | undefined>()
  const present = (path: Path) => {
    if (!cache.has(path)) cache.set(path, tree.at(path))
    return cache.get(path)
  }
  const before = checkChangeSet(changes, {
    at: present,
    sha256: (entry: FileOf<StoredEntry<C>>) => entry.sha256,
    names: tree.names,
  })
  const changed = new Set(changes.map(({ path }) => path))
  const carried = new Set<C>()
  const fresh = new Map<C, Uint8Array>()

  /** The content key of a changed path that holds these bytes, unless another change reuses it already. */
  const reuseContent = (from: Path | undefined, hash: string): C | undefined => {
    if (from === undefined || !changed.has(from)) return undefined
    const entry = present(from)
    if (entry?.type !== 'file' || entry.sha256 !== hash || carried.has(entry.content)) return undefined
    carried.add(entry.content)
    return entry.content
  }

  const entryFor = ({ path, to, from }: Change): StoredEntry<C> | undefined => {
    const stat = { size: 0, modifiedAt: at, tag: tag() }
    if (to === null) return undefined
    if (to.type === 'directory') return { type: 'directory', stat: directoryStat(at, stat.tag) }
    if (to.type === 'link') return { type: 'link', stat: { type: 'link', ...stat, mode: LINK_MODE }, target: to.target }
    const sources = [path, from].map((other) => (other === undefined ? undefined : present(other)))
    const source = sources.find((entry) => entry?.type === 'file')
    const sha256 = hashes.get(to.bytes) as string
    let content = reuseContent(path, sha256) ?? reuseContent(from, sha256)
    if (content === undefined) {
      content = options.content(to.bytes, path)
      fresh.set(content, to.bytes)
    }
    const mode = to.mode ?? source?.stat.mode ?? FILE_MODE
    return { type: 'file', stat: { type: 'file', ...stat, size: to.bytes.length, mode }, sha256, content }
  }

  const after = new Map<Path, StoredEntry<C> | undefined>()
  const steps = new Map<Path, StoredEntry<C> | undefined>()
  const touchedPaths = new Set<Path>()
  for (const change of applyOrder(changes)) {
    const { path, to } = change
    const old = present(path)
    if (to?.type === 'directory' && old?.type === 'directory') {
      after.set(path, old)
      continue
    }
    const entry = entryFor(change)
    after.set(path, entry)
    if (entry === undefined && old === undefined) continue
    steps.set(path, entry)
    if (entry?.type !== old?.type) touchedPaths.add(parentOf(path))
  }
  for (const path of touchedPaths) {
    if (after.has(path) && after.get(path)?.type !== 'directory') continue
    steps.set(path, { type: 'directory', stat: directoryStat(at, tag()) })
  }
  return {
    steps,
    fresh,
    dropped: before.flatMap((entry) =>
      entry?.type === 'file' && !carried.has(entry.content) ? [{ content: entry.content, size: entry.stat.size }] : [],
    ),
    receipt: {
      applied: changes.map(({ path }, i) => ({
        path,
        before: versionOfStored(before[i]),
        after: versionOfStored(after.get(path)),
      })),
    },
  }
}

/** Plans a commit for a storage that numbers tags and contents, from `next` on. Also returns the number after those it takes. */
export function planNumberedCommit(
  changes: readonly Change[],
  options: Pick<StoredCommitOptions<number>, 'tree' | 'hashes' | 'at'>,
  next: number,
): StoredCommit<number> & { readonly next: number } {
  let number = next
  const content = () => number++
  const planned = planStoredCommit(changes, { ...options, content, tag: () => String(content()) })
  return { ...planned, next: number }
}

function directoryStat(modifiedAt: number, tag: string): StoredStat {
  return { type: 'directory', size: 0, mode: DIRECTORY_MODE, modifiedAt, tag }
}

function versionOfStored(entry: StoredEntry<unknown> | undefined): Version {
  if (entry === undefined || entry.type === 'other') return null
  if (entry.type === 'directory') return DIRECTORY_VERSION
  if (entry.type === 'link') return { type: 'link', target: entry.target }
  return { type: 'file', sha256: entry.sha256, size: entry.stat.size, mode: entry.stat.mode }
}
