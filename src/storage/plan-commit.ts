import { sha256Async } from '../files/hash/sha256.ts'
import { type Path, parentOf } from '../paths/logical-path.ts'
import type { Change, Receipt, Stat, Version } from './backend.ts'
import { applyOrder, checkChangeSet, type FileOf } from './change-set.ts'

/**
 * For backends that store a tree of entries, and the bytes of files apart from it under a name `C` of their own: works
 * out what a change set makes of both, without waiting and without touching anything.
 */

/** What a look at an entry tells: nothing of it is ever left out. */
export type StoredStat = Stat & Required<Pick<Stat, 'mode' | 'modifiedAt'>>

/** What is at a path. Contents never change, and each belongs to one path. */
export type StoredEntry<C> =
  | { readonly type: 'directory'; readonly stat: StoredStat }
  | { readonly type: 'link'; readonly stat: StoredStat; readonly target: string }
  | { readonly type: 'file'; readonly stat: StoredStat; readonly sha256: string; readonly content: C }

/** The present tree. */
export interface StoredTree<C> {
  at(path: Path): StoredEntry<C> | undefined
  names(directory: Path): Iterable<string>
}

export interface StoredCommit<C> {
  /** In an order in which they can be applied one by one; `undefined` takes the entry away. */
  readonly steps: readonly { readonly path: Path; readonly entry: StoredEntry<C> | undefined }[]
  /** Directories whose names change, with their new stat. They may be gone after the steps. */
  readonly touched: ReadonlyMap<Path, StoredStat>
  /** Contents to be stored. */
  readonly fresh: ReadonlyMap<C, Uint8Array>
  /** Contents that no path has any more, with their sizes. */
  readonly dropped: readonly { readonly content: C; readonly size: number }[]
  readonly receipt: Receipt
}

export interface StoredCommitOptions<C> {
  readonly tree: StoredTree<C>
  /** The sha256 of the bytes in the set: see {@link hashBytes}. */
  readonly hashes: ReadonlyMap<Uint8Array, string>
  /** A tag that no entry ever had. */
  readonly tag: () => string
  /** The name for a content: a new one, or the one that these bytes were given before. */
  readonly content: (bytes: Uint8Array, path: Path) => C
  /** Milliseconds since 1970. */
  readonly at: number
}

export const FILE_MODE = 0o644
const DIRECTORY_MODE = 0o755
const LINK_MODE = 0o777
const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

/** The hashes of all bytes in a set, made before its commit so that the commit need not wait. */
export async function hashBytes(changes: readonly Change[]): Promise<ReadonlyMap<Uint8Array, string>> {
  const hashes = new Map<Uint8Array, string>()
  for (const { to } of changes) {
    // A malformed state is refused later, by what judges the set.
    if (to?.type !== 'file' || !(to.bytes instanceof Uint8Array) || hashes.has(to.bytes)) continue
    hashes.set(to.bytes, await sha256Async(to.bytes))
  }
  return hashes
}

/** @throws ToolError whatever `judgeChanges` throws */
export function planStoredCommit<C>(changes: readonly Change[], options: StoredCommitOptions<C>): StoredCommit<C> {
  const { tree, hashes, tag, at } = options
  const seen = new Map<Path, StoredEntry<C> | undefined>()
  const present = (path: Path) => {
    if (!seen.has(path)) seen.set(path, tree.at(path))
    return seen.get(path)
  }
  const before = checkChangeSet(changes, {
    at: present,
    sha256: (entry: FileOf<StoredEntry<C>>) => entry.sha256,
    names: tree.names,
  })
  const changed = new Set(changes.map(({ path }) => path))
  const carried = new Set<C>()
  const fresh = new Map<C, Uint8Array>()

  /** The content of a path that the set changes, where it holds these bytes and nobody took it over yet. */
  const takenOver = (from: Path | undefined, hash: string): C | undefined => {
    if (from === undefined || !changed.has(from)) return undefined
    const entry = present(from)
    if (entry?.type !== 'file' || entry.sha256 !== hash || carried.has(entry.content)) return undefined
    carried.add(entry.content)
    return entry.content
  }

  const entryFor = ({ path, to, from }: Change): StoredEntry<C> | undefined => {
    const stat = { size: 0, modifiedAt: at, tag: tag() }
    if (to === null) return undefined
    if (to.type === 'directory')
      return { type: 'directory', stat: { type: 'directory', ...stat, mode: DIRECTORY_MODE } }
    if (to.type === 'link') return { type: 'link', stat: { type: 'link', ...stat, mode: LINK_MODE }, target: to.target }
    const sources = [path, from].map((other) => (other === undefined ? undefined : present(other)))
    const kept = sources.find((entry) => entry?.type === 'file')
    const sha256 = hashes.get(to.bytes) as string
    let content = takenOver(path, sha256) ?? takenOver(from, sha256)
    if (content === undefined) {
      content = options.content(to.bytes, path)
      fresh.set(content, to.bytes)
    }
    const mode = to.mode ?? kept?.stat.mode ?? FILE_MODE
    return { type: 'file', stat: { type: 'file', ...stat, size: to.bytes.length, mode }, sha256, content }
  }

  const after = new Map<Path, StoredEntry<C> | undefined>()
  const steps: { path: Path; entry: StoredEntry<C> | undefined }[] = []
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
    steps.push({ path, entry })
    if (entry?.type !== old?.type) touchedPaths.add(parentOf(path))
  }
  return {
    steps,
    touched: new Map(
      [...touchedPaths].map((path) => [
        path,
        { type: 'directory', size: 0, mode: DIRECTORY_MODE, modifiedAt: at, tag: tag() },
      ]),
    ),
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

function versionOfStored(entry: StoredEntry<unknown> | undefined): Version {
  if (entry === undefined) return null
  if (entry.type === 'directory') return DIRECTORY_VERSION
  if (entry.type === 'link') return { type: 'link', target: entry.target }
  return { type: 'file', sha256: entry.sha256, size: entry.stat.size, mode: entry.stat.mode }
}
