import { objectId } from '../files/hash/sha1.ts'
import { type IgnoreScope, ignoredIn, scopeWith } from '../paths/ignore.ts'
import { childOf, type Path, ROOT } from '../paths/logical-path.ts'
import { type Backend, type DirectoryStats, FACTS, TYPE_CODES } from '../storage/backend.ts'
import { throwIfAborted } from '../util/abort.ts'
import { type BaseDirectory, type BaseFile, sideOfBase } from './base-tree.ts'
import { type Changed, gitMode, LINK, type Side, SUBMODULE } from './changed-path.ts'
import { deletions } from './compare-tree.ts'
import type { FileSelection } from './file-selection.ts'
import type { IndexEntry } from './index-file.ts'
import type { Objects } from './objects.ts'
import { readDirectoryStats } from './stat-directories.ts'
import { isValidGitPath } from './valid-path.ts'

/** The file stats in git's index, and when it was written. */
export interface Index {
  readonly entries: ReadonlyMap<string, IndexEntry>
  /** Milliseconds since 1970. */
  readonly writtenAt: number
}

/** A file changed within this time may change again within one tick of the file system's clock. */
export const RACY_MS = 2000

/** Larger files are not read: they count as different if their stats differ. */
const MAX_BYTES = 256 * 1024 * 1024

const NONE: readonly Changed[] = []

/** A directory to compare. */
interface Visit {
  readonly path: Path
  readonly base: BaseDirectory | undefined
  readonly ignored: boolean
}

/** A directory to compare, with the ignore scope outside it. */
type ScopedVisit = Visit & { readonly outer: IgnoreScope | undefined }

/** What the comparison of one directory found, and what it depends on. */
interface CachedDirectory {
  stats: DirectoryStats
  /** Blob ids by position. Undefined where the stats are too recent to be trusted, or the file was not read. */
  readonly ids: (string | undefined)[]
  readonly visit: ScopedVisit
  readonly selection: FileSelection
  /** The id of the ignore file, and the ignore scope inside the directory. */
  ignoreId: string | undefined
  scope: IgnoreScope | undefined
  changed: readonly Changed[]
  /** Subdirectories to compare. */
  children: readonly Visit[]
  /** Whether the result holds as long as the stats stay the same. */
  settled: boolean
}

/** What one comparison is based on. */
interface Comparison {
  readonly index: Index
  readonly selection: FileSelection
  /** Milliseconds since 1970. */
  readonly now: number
}

/**
 * Compares the files of a backend with a base, by their stats. A file is read only if its stats differ from those in git's
 * index and from those of the last comparison. A directory is listed again only if its own stats have changed.
 */
export class DiskComparer {
  readonly #backend: Backend
  readonly #objects: Objects
  readonly #cache = new Map<Path, CachedDirectory>()
  readonly #contents = createContentCache()

  constructor(backend: Backend, objects: Objects) {
    this.#backend = backend
    this.#objects = objects
  }

  async compare(
    base: BaseDirectory,
    index: Index,
    selection: FileSelection,
    signal: AbortSignal | undefined,
  ): Promise<readonly Changed[]> {
    const comparison: Comparison = { index, selection, now: Date.now() }
    const cache = this.#cache
    const changed: Changed[] = []
    const visited = new Set<Path>()
    this.#contents.clear()
    let level: ScopedVisit[] = [{ path: ROOT, base, ignored: false, outer: selection.exclude }]
    while (level.length > 0) {
      throwIfAborted(signal)
      const listed = await readDirectoryStats(
        this.#backend,
        level.map(({ path }) => path),
        (path) => cache.get(path)?.stats,
      )
      const next: ScopedVisit[] = []
      for (const [i, visit] of level.entries()) {
        const stats = listed[i]
        visited.add(visit.path)
        if (stats === undefined) {
          cache.delete(visit.path)
          if (visit.base !== undefined) {
            deletions(this.#objects, visit.base, visit.path, (change) => changed.push(change))
          }
          continue
        }
        const directory = await this.#compareDirectory(visit, stats, comparison)
        for (const change of directory.changed) changed.push(change)
        for (const child of directory.children) next.push({ ...child, outer: directory.scope })
      }
      level = next
    }
    if (cache.size > visited.size) for (const path of cache.keys()) if (!visited.has(path)) cache.delete(path)
    return changed
  }

  async #compareDirectory(visit: ScopedVisit, stats: DirectoryStats, comparison: Comparison): Promise<CachedDirectory> {
    const { selection } = comparison
    const last = this.#cache.get(visit.path)
    if (last?.settled === true && last.selection === selection && isSameVisit(last.visit, visit)) {
      if (isSameStats(last.stats, stats)) {
        last.stats = stats
        return last
      }
    }
    const directory: CachedDirectory = {
      stats,
      ids: unchangedIds(last, stats),
      visit,
      selection,
      ignoreId: undefined,
      scope: visit.outer,
      changed: NONE,
      children: [],
      settled: true,
    }
    await this.#readIgnoreFile(directory, last, comparison)
    const changed: Changed[] = []
    const present = await this.#compareEntries(directory, comparison, changed)
    this.#addDeletions(directory, present, changed)
    directory.changed = changed
    this.#cache.set(visit.path, directory)
    return directory
  }

  /** Sets the ignore scope inside a directory. */
  async #readIgnoreFile(
    directory: CachedDirectory,
    last: CachedDirectory | undefined,
    comparison: Comparison,
  ): Promise<void> {
    const { stats, visit } = directory
    const position = stats.names.indexOf('.gitignore')
    if (position === -1 || stats.types[position] !== TYPE_CODES.file) return
    const file = childOf(visit.path, '.gitignore')
    const id = await this.#idOf(directory, position, file, comparison)
    directory.ignoreId = id
    if (last?.ignoreId === id && last.visit.outer === visit.outer) directory.scope = last.scope
    else {
      const bytes = await this.#contentOf(file, TYPE_CODES.file, 0)
      if (bytes !== undefined) {
        directory.scope = scopeWith(visit.outer, visit.path, bytes, comparison.selection.caseInsensitive)
      }
    }
  }

  /** Compares the current entries of a directory. Returns how many files of the base still exist. */
  async #compareEntries(directory: CachedDirectory, comparison: Comparison, changed: Changed[]): Promise<number> {
    const { stats, visit } = directory
    const { names, types } = stats
    const { path, base, ignored } = visit
    const { added } = comparison.selection
    const isIgnored = ignoredIn(directory.scope, path)
    const children: Visit[] = []
    directory.children = children
    let present = 0
    for (let i = 0; i < names.length; i++) {
      const name = names[i] as string
      if (name === '.git') continue
      const type = types[i]
      const old = base?.files.get(name)
      if (type === TYPE_CODES.directory) {
        if (old?.mode === SUBMODULE) {
          present += 1
          continue
        }
        const childPath = childOf(path, name)
        const oldDirectory = base?.directories.get(name)
        const isHidden = ignored || isIgnored(name, true)
        if (oldDirectory === undefined && isHidden && !added.has(childPath)) continue
        if (oldDirectory === undefined && !isHidden && (await this.#isRepository(childPath))) continue
        children.push({ path: childPath, base: oldDirectory, ignored: isHidden })
        continue
      }
      if (type !== TYPE_CODES.file && type !== TYPE_CODES.link) continue
      const childPath = childOf(path, name)
      if (old !== undefined) {
        present += 1
        const mode = modeOf(stats, i, old.mode)
        const id = await this.#idOf(directory, i, childPath, comparison)
        if (mode === old.mode && id === old.id) continue
        const now = this.#sideOf(childPath, mode, id, type)
        changed.push({ path: childPath, old: sideOfBase(this.#objects, old), now })
      } else if (!(ignored || isIgnored(name, false)) || added.has(childPath)) {
        const id = await this.#idOf(directory, i, childPath, comparison)
        changed.push({
          path: childPath,
          old: null,
          now: this.#sideOf(childPath, modeOf(stats, i, undefined), id, type),
        })
      }
    }
    return present
  }

  /** Reports the files and directories of the base that no longer exist. */
  #addDeletions({ stats, visit }: CachedDirectory, present: number, changed: Changed[]): void {
    const { path, base } = visit
    if (base === undefined) return
    const hasMissingFiles = present < base.files.size
    if (!hasMissingFiles && base.directories.size === 0) return
    const types = new Map(stats.names.map((name, i) => [name, stats.types[i]]))
    const isGone = (name: string, old: BaseFile): boolean => {
      const type = types.get(name)
      return (
        type !== TYPE_CODES.file && type !== TYPE_CODES.link && old.mode !== SUBMODULE && isValidGitPath(path, name)
      )
    }
    if (hasMissingFiles) {
      for (const [name, old] of base.files) {
        if (isGone(name, old))
          changed.push({ path: childOf(path, name), old: sideOfBase(this.#objects, old), now: null })
      }
    }
    for (const [name, old] of base.directories) {
      if (types.get(name) !== TYPE_CODES.directory) {
        deletions(this.#objects, old, childOf(path, name), (change) => changed.push(change))
      }
    }
  }

  /** Returns the blob id of an entry. Reads its content only if the id is neither cached nor in git's index. */
  async #idOf(directory: CachedDirectory, i: number, path: Path, { index, now }: Comparison): Promise<string> {
    const { ids, stats } = directory
    const cached = ids[i]
    if (cached !== undefined) return cached
    const entry = index.entries.get(path)
    if (entry !== undefined && isAsIndexed(stats, i, entry, index.writtenAt)) {
      ids[i] = entry.id
      return entry.id
    }
    const bytes = await this.#contentOf(path, stats.types[i] as number, stats.facts[FACTS * i] as number)
    const id = bytes === undefined ? '' : objectId('blob', bytes)
    if (bytes !== undefined) this.#contents.add(path, id, bytes)
    if (isRecent(stats, i, now)) directory.settled = false
    else ids[i] = id
    return id
  }

  /** Whether a directory is a nested repository, whose files are its own. */
  async #isRepository(path: Path): Promise<boolean> {
    return (await this.#backend.stat(childOf(path, '.git'))) !== undefined
  }

  async #contentOf(path: Path, type: number, size: number): Promise<Uint8Array | undefined> {
    try {
      if (type === TYPE_CODES.link) return new TextEncoder().encode(await this.#backend.readLink(path))
      if (size > MAX_BYTES) return undefined
      return (await this.#backend.read(path)).bytes
    } catch {
      // Deleted or changed meanwhile, or not readable: the diff states that it differs.
      return undefined
    }
  }

  #sideOf(path: Path, mode: number, id: string, type: number): Side {
    return { mode, id, bytes: () => this.#contents.take(path, id) ?? this.#contentOf(path, type, 0) }
  }
}

/** Bytes of contents that are kept from the hash of a file until its diff. */
const CONTENT_BYTES = 32 * 1024 * 1024

/** Contents that one comparison has read, each to be taken once: a changed file need not be read again for its diff. */
function createContentCache() {
  const contents = new Map<Path, { readonly id: string; readonly bytes: Uint8Array }>()
  let total = 0
  return {
    add(path: Path, id: string, bytes: Uint8Array): void {
      if (total + bytes.length > CONTENT_BYTES) return
      total += bytes.length
      contents.set(path, { id, bytes })
    },
    take(path: Path, id: string): Uint8Array | undefined {
      const entry = contents.get(path)
      if (entry?.id !== id) return undefined
      contents.delete(path)
      total -= entry.bytes.length
      return entry.bytes
    },
    clear(): void {
      contents.clear()
      total = 0
    },
  }
}

function modeOf(stats: DirectoryStats, i: number, base: number | undefined): number {
  if (stats.types[i] === TYPE_CODES.link) return LINK
  const bits = stats.facts[FACTS * i + 1] as number
  return gitMode(bits < 0 ? undefined : bits, base)
}

/** Whether a file has changed so recently that its content may still differ under the same stats. */
function isRecent(stats: DirectoryStats, i: number, now: number): boolean {
  const modifiedAt = stats.facts[FACTS * i + 2] as number
  const changedAt = stats.facts[FACTS * i + 3] as number
  // Written so that unknown times (NaN) count as recent.
  return !(Math.max(modifiedAt, changedAt) < now - RACY_MS)
}

function isAsIndexed(stats: DirectoryStats, i: number, entry: IndexEntry, writtenAt: number): boolean {
  const { facts } = stats
  const at = FACTS * i
  const modifiedAt = facts[at + 2] as number
  return (
    modifiedAt === entry.modifiedAt &&
    (facts[at] as number) % 0x1_0000_0000 === entry.size &&
    (facts[at + 3] as number) === entry.changedAt &&
    (facts[at + 4] as number) % 0x1_0000_0000 === entry.inode &&
    // A file written in the same tick as the index may have changed after the index noted it.
    modifiedAt < writtenAt
  )
}

function isSameVisit(a: ScopedVisit, b: ScopedVisit): boolean {
  return a.base === b.base && a.outer === b.outer && a.ignored === b.ignored
}

function isSameStats(a: DirectoryStats, b: DirectoryStats): boolean {
  if (a.names !== b.names && !isSameNames(a, b)) return false
  // Both have the same length, that of the names.
  const first = a.facts
  const second = b.facts
  for (let i = 0; i < first.length; i++) if (first[i] !== second[i]) return false
  return true
}

function isSameNames(a: DirectoryStats, b: DirectoryStats): boolean {
  if (a.names.length !== b.names.length) return false
  for (let i = 0; i < a.names.length; i++) if (a.names[i] !== b.names[i] || a.types[i] !== b.types[i]) return false
  return true
}

/** Returns the cached ids of the entries whose stats are unchanged. */
function unchangedIds(last: CachedDirectory | undefined, stats: DirectoryStats): (string | undefined)[] {
  const ids: (string | undefined)[] = new Array(stats.names.length)
  if (last === undefined) return ids
  const positions = last.stats.names === stats.names ? undefined : new Map(last.stats.names.map((name, i) => [name, i]))
  for (let i = 0; i < ids.length; i++) {
    const at = positions === undefined ? i : positions.get(stats.names[i] as string)
    if (at === undefined || last.ids[at] === undefined || last.stats.types[at] !== stats.types[i]) continue
    let same = true
    for (let k = 0; k < FACTS && same; k++) {
      // Permission bits do not affect the id.
      same = k === 1 || last.stats.facts[FACTS * at + k] === stats.facts[FACTS * i + k]
    }
    if (same) ids[i] = last.ids[at]
  }
  return ids
}
