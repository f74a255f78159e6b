import type { Volume } from 'memfs'
import { ToolError } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { type Path, parentOf, parsePath, quote, ROOT } from '../../paths/logical-path.ts'
import type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  EntryType,
  ReadsNow,
  Receipt,
  Stat,
  Version,
} from '../../storage/backend.ts'
import { canonicalSync, type LookupResult } from '../../storage/canonical-path.ts'
import { applyOrder, checkChangeSet } from '../../storage/change-set.ts'
import { readsOver } from '../../storage/lookups.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { storageError } from '../../storage/storage-error.ts'
import { type ReadVerb, wrongType } from '../../storage/wrong-type.ts'
import { throwIfAborted } from '../../util/abort.ts'
import { checkOptions, isText, refuseSurplus } from '../../util/check-options.ts'
import { ACCESSES_PER_LOOK, createPacer } from '../../util/pacer.ts'

/** Options of {@link memfs}. */
export interface MemfsOptions {
  /** The root directory, which must exist in the volume. Default: `/`. */
  readonly root?: string
}

/**
 * Creates a backend over a `Volume` of the optional package memfs, for tests and tools that share one with other code. Others
 * may write to it at any time: every commit reads the tree again, and runs within one turn of the event loop.
 *
 * The tag of a file is derived from its content, because the volume's times miss changes within a millisecond or under a
 * fixed clock; a `stat` therefore hashes the file. A replaced file is a new one: a hard link elsewhere keeps the old
 * content.
 *
 * @throws TypeError without a volume, and if the root is not a directory of the volume
 * @example
 * const volume = Volume.fromJSON({ '/project/a.txt': 'hello\n' })
 * const backend = memfs(volume, { root: '/project' })
 */
export function memfs(volume: Volume, options?: MemfsOptions): Backend {
  refuseSurplus('memfs()', 2, arguments)
  const { root = '/' } = checkOptions<MemfsOptions>('memfs()', options, { root: isText })
  if (!root.startsWith('/')) throw new TypeError(`memfs(): the root must be an absolute path, not ${quote(root)}`)
  if (typeof (volume as Partial<Volume> | undefined)?.statSync !== 'function') {
    throw new TypeError('memfs() needs a Volume of the package memfs: npm install memfs, then memfs(new Volume())')
  }
  if (!volume.statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new TypeError(`memfs(): the root ${quote(root)} is not a directory of the volume`)
  }
  return backendOver(new OpenVolume(volume, String(volume.realpathSync(root))))
}

const capabilities: Capabilities = Object.freeze({
  links: true,
  modes: true,
  times: 'set',
  caseSensitive: true,
  authority: 'shared',
  persistent: false,
  atomic: 'set',
})

const FILE_MODE = 0o644
const DIRECTORY_MODE = 0o755

function backendOver(files: OpenVolume): Backend {
  const look = (path: Path): LookupResult => {
    const type = files.type(path)
    if (type === 'link') return { link: files.readLink(path) }
    return type && { type }
  }
  const refusal = (verb: ReadVerb, path: Path) => wrongType(verb, path, (at) => files.type(at))
  const now: ReadsNow = {
    canonical(path, options) {
      return path === '' ? ROOT : canonicalSync(look, path, options?.noFollow ?? false)
    },

    stat: (path) => files.at(path)?.stat,

    list(path) {
      const type = files.type(path)
      if (type !== 'directory') throw refusal('list', path)
      const entries = files.entries(path).filter(({ name }) => isGuarded(name))
      return entries.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name))
    },

    read(path, range) {
      const entry = files.at(path)
      if (entry?.type !== 'file') throw refusal('read', path)
      const { bytes, stat } = entry
      if (range === undefined) return { bytes, stat }
      const { start, end } = rangeOf(path, range, stat, () => entry.sha256)
      return { bytes: bytes.subarray(start, end), stat }
    },

    readLink(path) {
      const type = files.type(path)
      if (type !== 'link') throw refusal('read link', path)
      return files.readLink(path)
    },
  }
  const pace = createPacer(ACCESSES_PER_LOOK)
  return {
    capabilities,
    ...readsOver(now),
    readsNow: () => now,

    async commit(changes, options) {
      throwIfAborted(options.signal)
      // No await before the end, so that no other code runs in between.
      const receipt = commitNow(files, changes, options)
      await pace()
      return receipt
    },

    async scan(paths, visit) {
      for (const path of paths) {
        const entry = files.at(path)
        if (entry?.type === 'file' && !visit(path, entry.bytes, entry.stat)) return
      }
    },

    async close() {},
  }
}

function commitNow(files: OpenVolume, changes: readonly Change[], { at }: CommitOptions): Receipt {
  files.checkRoot()
  const cache = new Map<Path, Entry | undefined>()
  const lookup = (path: Path): Entry | undefined => {
    if (!cache.has(path)) cache.set(path, files.at(path))
    return cache.get(path)
  }
  const before = checkChangeSet(changes, {
    at: lookup,
    sha256: ({ sha256 }: Entry) => sha256,
    names: (path) => files.entries(path).map(({ name }) => name),
  })
  const after = new Map<Path, Version>()
  const undo: (() => void)[] = []
  try {
    for (const change of applyOrder(changes)) after.set(change.path, apply(files, change, lookup, undo))
    if (at !== undefined) for (const path of touchedPaths(changes, lookup)) files.setTime(path, at)
  } catch (error) {
    for (const step of undo.reverse()) step()
    throw error
  }
  return {
    applied: changes.map(({ path }, i) => ({
      path,
      before: versionOfEntry(before[i]),
      after: after.get(path) ?? null,
    })),
  }
}

/** Brings a path to its state, records how to undo that, and returns its new version. */
function apply(
  files: OpenVolume,
  { path, to, from }: Change,
  lookup: (path: Path) => Entry | undefined,
  undo: (() => void)[],
): Version {
  const old = lookup(path)
  if (to?.type === 'directory' && old?.type === 'directory') return DIRECTORY_VERSION
  if (old !== undefined) {
    files.remove(path, old.type)
    undo.push(() => files.restore(path, old))
  }
  if (to === null) return null
  undo.push(() => files.remove(path, files.type(path)))
  if (to.type === 'directory') {
    files.makeDirectory(path, DIRECTORY_MODE)
    return DIRECTORY_VERSION
  }
  if (to.type === 'link') {
    files.makeLink(path, to.target)
    return { type: 'link', target: to.target }
  }
  const source = from === undefined ? undefined : lookup(from)
  const previous = old?.type === 'file' ? old : source?.type === 'file' ? source : undefined
  const mode = to.mode ?? previous?.stat.mode ?? FILE_MODE
  files.makeFile(path, to.bytes, mode)
  return { type: 'file', sha256: sha256(to.bytes), size: to.bytes.length, mode }
}

/** Paths that get a new time: written paths and their directories, which the volume touches for replaced files too. */
function touchedPaths(changes: readonly Change[], lookup: (path: Path) => Entry | undefined): Set<Path> {
  const touched = new Set<Path>()
  for (const { path, to } of changes) {
    const oldType = lookup(path)?.type
    if (to?.type === oldType && oldType === 'directory') continue
    if (to !== null) touched.add(path)
    if (to !== null || oldType !== undefined) touched.add(parentOf(path))
  }
  for (const { path, to } of changes) if (to === null) touched.delete(path)
  return touched
}

const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

function versionOfEntry(entry: Entry | undefined): Version {
  switch (entry?.type) {
    case 'file':
      return { type: 'file', sha256: entry.sha256, size: entry.stat.size, mode: entry.stat.mode }
    case 'link':
      return { type: 'link', target: entry.target }
    case 'directory':
      return DIRECTORY_VERSION
    default:
      return null
  }
}

/** A volume has these fields for every entry. */
type KnownStat = Stat & Required<Pick<Stat, 'mode' | 'modifiedAt'>>

type Entry =
  | { readonly type: 'file'; readonly stat: KnownStat; readonly bytes: Uint8Array; readonly sha256: string }
  | { readonly type: 'link'; readonly stat: KnownStat; readonly target: string; readonly sha256: '' }
  | { readonly type: 'directory' | 'other'; readonly stat: KnownStat; readonly sha256: '' }

/** The volume by logical paths: synchronous, follows no link, and throws only `ToolError`. */
class OpenVolume {
  readonly #volume: Volume
  readonly #root: string

  constructor(volume: Volume, root: string) {
    this.#volume = volume
    this.#root = root
  }

  /** The parent of every other path is checked with the change set; the root has none. */
  checkRoot(): void {
    if (this.#isPinned(ROOT)) return
    throw new ToolError('BACKEND_ERROR', 'Cannot commit: the root of the volume was moved or replaced')
  }

  type(path: Path): EntryType | undefined {
    const stats = this.#lstat(path)
    return stats && typeOf(stats)
  }

  at(path: Path): Entry | undefined {
    const stats = this.#lstat(path)
    if (stats === undefined) return undefined
    const type = typeOf(stats)
    const stat = (size: number, tag: string): KnownStat => ({
      type,
      size,
      mode: Number(stats.mode) & 0o7777,
      modifiedAt: stats.mtime.getTime(),
      tag,
    })
    if (type === 'file') {
      const content = guard('read', path, () => this.#volume.readFileSync(this.#physical(path))) as Uint8Array
      const bytes = new Uint8Array(content.buffer, content.byteOffset, content.length)
      const hash = sha256(bytes)
      return { type, bytes, sha256: hash, stat: stat(bytes.length, `${Number(stats.mode)}:${hash}`) }
    }
    if (type === 'link') {
      const target = this.readLink(path)
      return { type, target, sha256: '', stat: stat(0, sha256(new TextEncoder().encode(target))) }
    }
    return { type, sha256: '', stat: stat(0, `${stats.ino}:${stats.mtime.getTime()}:${stats.nlink}`) }
  }

  /** All entries, unsorted, including those with names that the path guard refuses. */
  entries(path: Path): { name: string; type: EntryType }[] {
    return guard('list', path, () => {
      const entries = this.#volume.readdirSync(this.#physical(path), { withFileTypes: true }) as DirentLike[]
      return entries.map((entry) => ({ name: String(entry.name), type: typeOf(entry) }))
    })
  }

  readLink(path: Path): string {
    return guard('read link', path, () => String(this.#volume.readlinkSync(this.#physical(path))))
  }

  makeFile(path: Path, bytes: Uint8Array, mode: number): void {
    guard('write', path, () => {
      this.#volume.writeFileSync(this.#physical(path), bytes, { flag: 'wx' })
      this.#volume.chmodSync(this.#physical(path), mode)
    })
  }

  makeDirectory(path: Path, mode: number): void {
    guard('create directory', path, () => {
      this.#volume.mkdirSync(this.#physical(path))
      this.#volume.chmodSync(this.#physical(path), mode)
    })
  }

  makeLink(path: Path, target: string): void {
    guard('create link', path, () => this.#volume.symlinkSync(target, this.#physical(path)))
  }

  setTime(path: Path, at: number): void {
    // The volume converts to seconds and truncates; a quarter of a millisecond more makes up for the rounding.
    const seconds = (at + 0.25) / 1000
    guard('set the time of', path, () => this.#volume.lutimesSync(this.#physical(path), seconds, seconds))
  }

  remove(path: Path, type: EntryType | undefined): void {
    guard('delete', path, () => {
      // The directory is empty, but memfs miscounts the entries of a directory after a rename within it.
      if (type === 'directory') this.#volume.rmdirSync(this.#physical(path), { recursive: true })
      else if (type !== undefined) this.#volume.unlinkSync(this.#physical(path))
    })
  }

  restore(path: Path, old: Entry): void {
    const { mode, modifiedAt } = old.stat
    if (old.type === 'file') this.makeFile(path, old.bytes, mode)
    else if (old.type === 'link') this.makeLink(path, old.target)
    else this.makeDirectory(path, mode)
    this.setTime(path, modifiedAt)
  }

  #physical(path: Path): string {
    if (path === '') return this.#root
    return this.#root === '/' ? `/${path}` : `${this.#root}/${path}`
  }

  /** memfs follows links in the middle of a path, so a path is used only if its directory is its own real path. */
  #isPinned(path: Path): boolean {
    const directory = this.#physical(path === '' ? ROOT : parentOf(path))
    if (directory === '/') return true
    try {
      return this.#volume.realpathSync(directory) === directory
    } catch {
      return false
    }
  }

  #lstat(path: Path) {
    if (!this.#isPinned(path)) return undefined
    return guard('look at', path, () => {
      try {
        return this.#volume.lstatSync(this.#physical(path), { throwIfNoEntry: false })
      } catch (error) {
        if ((error as { code?: unknown }).code === 'ENOTDIR') return undefined
        throw error
      }
    })
  }
}

function guard<T>(verb: string, path: Path, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw storageError(verb, path, error)
  }
}

interface DirentLike {
  readonly name: unknown
  isFile(): boolean
  isDirectory(): boolean
  isSymbolicLink(): boolean
}

function typeOf(stats: Omit<DirentLike, 'name'>): EntryType {
  if (stats.isSymbolicLink()) return 'link'
  if (stats.isDirectory()) return 'directory'
  return stats.isFile() ? 'file' : 'other'
}

function isGuarded(name: string): boolean {
  try {
    return parsePath(name) === name
  } catch {
    return false
  }
}
