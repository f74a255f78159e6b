import { Volume } from 'memfs'
import { ToolError } from '../../errors.ts'
import { sha256 } from '../../files/hash/sha256.ts'
import { type Path, parentOf, parsePath, quote, ROOT } from '../../paths/logical-path.ts'
import type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  EntryType,
  Receipt,
  Stat,
  Version,
} from '../../storage/backend.ts'
import { canonicalSync, type LookupResult } from '../../storage/canonical-path.ts'
import { applyOrder, checkChangeSet } from '../../storage/change-set.ts'
import { rangeOf } from '../../storage/read-range.ts'
import { storageError } from '../../storage/storage-error.ts'
import { wrongType } from '../../storage/wrong-type.ts'
import { throwIfAborted } from '../../util/abort.ts'

/** Which part of the volume is the workspace. */
export interface MemfsOptions {
  /** The directory of the volume that is the root. It must exist in a volume that is given. Default: `/`. */
  readonly root?: string
}

/**
 * A backend over a memfs `Volume`, for tests and tools that share one with other code: the embedder's own, or a new one.
 * Others may write into it at any time: every commit looks again, and happens whole within one turn of the event loop.
 *
 * A file's tag is made of its content, because the volume's own times miss a change within a millisecond or under a
 * fixed clock; a `stat` therefore costs a hash of the file. A replaced file is a new one: a hard link elsewhere keeps the
 * old content.
 *
 * @throws TypeError for a root that is no directory of the volume
 * @example
 * ```ts
 * const volume = Volume.fromJSON({ '/project/a.txt': 'hello\n' })
 * const backend = memfs(volume, { root: '/project' })
 * ```
 */
export function memfs(volume?: Volume, options: MemfsOptions = {}): Backend {
  const { root = '/' } = options
  if (!root.startsWith('/')) throw new TypeError(`memfs(): the root must be an absolute path, not ${quote(root)}`)
  const store = volume ?? new Volume()
  if (volume === undefined) store.mkdirSync(root, { recursive: true })
  if (!store.statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
    throw new TypeError(`memfs(): the root ${quote(root)} is no directory of the volume`)
  }
  return backendOver(openVolume(store, String(store.realpathSync(root))))
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
  return {
    capabilities,

    async canonical(path, how) {
      return path === '' ? ROOT : canonicalSync(look, path, how?.noFollow ?? false)
    },

    async stat(path) {
      return files.at(path)?.stat
    },

    async list(path) {
      const type = files.type(path)
      if (type !== 'directory') throw wrongType('list', path, files.type)
      const entries = files.entries(path).filter(({ name }) => isGuarded(name))
      return entries.sort((a, b) => Number(a.name > b.name) - Number(a.name < b.name))
    },

    async read(path, range) {
      const found = files.at(path)
      if (found?.type !== 'file') throw wrongType('read', path, files.type)
      const { bytes, stat } = found
      if (range === undefined) return { bytes, stat }
      const { start, end } = rangeOf(path, range, stat, () => found.sha256)
      return { bytes: bytes.subarray(start, end), stat }
    },

    async readLink(path) {
      const type = files.type(path)
      if (type !== 'link') throw wrongType('read link', path, files.type)
      return files.readLink(path)
    },

    async commit(changes, how) {
      throwIfAborted(how.signal)
      // From here to the end nothing waits, so that no other code can come in between.
      return commitNow(files, changes, how)
    },

    async scan(paths, visit) {
      for (const path of paths) {
        const found = files.at(path)
        if (found?.type === 'file' && !visit(path, found.bytes, found.stat)) return
      }
    },

    async close() {},
  }
}

function commitNow(files: OpenVolume, changes: readonly Change[], { at }: CommitOptions): Receipt {
  files.checkRoot()
  const seen = new Map<Path, Found | undefined>()
  const lookup = (path: Path): Found | undefined => {
    if (!seen.has(path)) seen.set(path, files.at(path))
    return seen.get(path)
  }
  const before = checkChangeSet(changes, {
    at: lookup,
    sha256: ({ sha256 }: Found) => sha256,
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

/** Brings one path to its state, notes how to bring it back, and tells what is there now. */
function apply(
  files: OpenVolume,
  { path, to, from }: Change,
  lookup: (path: Path) => Found | undefined,
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
  const kept = old?.type === 'file' ? old : source?.type === 'file' ? source : undefined
  const mode = to.mode ?? kept?.stat.mode ?? FILE_MODE
  files.makeFile(path, to.bytes, mode)
  return { type: 'file', sha256: sha256(to.bytes), size: to.bytes.length, mode }
}

/** What gets a new time: what was written, and its directory, which the volume touches for a replaced file too. */
function touchedPaths(changes: readonly Change[], lookup: (path: Path) => Found | undefined): Set<Path> {
  const touched = new Set<Path>()
  for (const { path, to } of changes) {
    const was = lookup(path)?.type
    if (to?.type === was && was === 'directory') continue
    if (to !== null) touched.add(path)
    if (to !== null || was !== undefined) touched.add(parentOf(path))
  }
  for (const { path, to } of changes) if (to === null) touched.delete(path)
  return touched
}

const DIRECTORY_VERSION: Version = Object.freeze({ type: 'directory' })

function versionOfEntry(found: Found | undefined): Version {
  switch (found?.type) {
    case 'file':
      return { type: 'file', sha256: found.sha256, size: found.stat.size, mode: found.stat.mode }
    case 'link':
      return { type: 'link', target: found.target }
    case 'directory':
      return DIRECTORY_VERSION
    default:
      return null
  }
}

/** A volume tells these of everything. */
type KnownStat = Stat & Required<Pick<Stat, 'mode' | 'modifiedAt'>>

type Found =
  | { readonly type: 'file'; readonly stat: KnownStat; readonly bytes: Uint8Array; readonly sha256: string }
  | { readonly type: 'link'; readonly stat: KnownStat; readonly target: string; readonly sha256: '' }
  | { readonly type: 'directory' | 'other'; readonly stat: KnownStat; readonly sha256: '' }

type OpenVolume = ReturnType<typeof openVolume>

/** The volume by logical paths: synchronous, follows no link, and throws nothing but `ToolError`. */
function openVolume(volume: Volume, root: string) {
  const physical = (path: Path) => (path === '' ? root : root === '/' ? `/${path}` : `${root}/${path}`)

  /** memfs follows links in the middle of a path, so that a path is used only where its directory is what it says. */
  function isPinned(path: Path): boolean {
    const directory = physical(path === '' ? ROOT : parentOf(path))
    if (directory === '/') return true
    try {
      return volume.realpathSync(directory) === directory
    } catch {
      return false
    }
  }

  function guard<T>(verb: string, path: Path, action: () => T): T {
    try {
      return action()
    } catch (error) {
      throw storageError(verb, path, error)
    }
  }

  function lstat(path: Path) {
    if (!isPinned(path)) return undefined
    return guard('look at', path, () => {
      try {
        return volume.lstatSync(physical(path), { throwIfNoEntry: false })
      } catch (error) {
        if ((error as { code?: unknown }).code === 'ENOTDIR') return undefined
        throw error
      }
    })
  }

  const readLink = (path: Path) => guard('read link', path, () => String(volume.readlinkSync(physical(path))))

  function makeFile(path: Path, bytes: Uint8Array, mode: number): void {
    guard('write', path, () => {
      volume.writeFileSync(physical(path), bytes, { flag: 'wx' })
      volume.chmodSync(physical(path), mode)
    })
  }

  function makeDirectory(path: Path, mode: number): void {
    guard('create directory', path, () => {
      volume.mkdirSync(physical(path))
      volume.chmodSync(physical(path), mode)
    })
  }

  const makeLink = (path: Path, target: string) =>
    guard('create link', path, () => volume.symlinkSync(target, physical(path)))

  // A quarter of a millisecond more, because the volume goes through seconds and cuts off what is lost on the way.
  const setTime = (path: Path, at: number) =>
    guard('set the time of', path, () => volume.lutimesSync(physical(path), (at + 0.25) / 1000, (at + 0.25) / 1000))

  return {
    /** Every other directory is judged as a parent; the root has none that would be. */
    checkRoot(): void {
      if (isPinned(ROOT)) return
      throw new ToolError('BACKEND_ERROR', 'Cannot commit: the root of the volume was moved or replaced')
    },

    type(path: Path): EntryType | undefined {
      const stats = lstat(path)
      return stats && typeOf(stats)
    },

    at(path: Path): Found | undefined {
      const stats = lstat(path)
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
        const content = guard('read', path, () => volume.readFileSync(physical(path))) as Uint8Array
        const bytes = new Uint8Array(content.buffer, content.byteOffset, content.length)
        const hash = sha256(bytes)
        return { type, bytes, sha256: hash, stat: stat(bytes.length, `${Number(stats.mode)}:${hash}`) }
      }
      if (type === 'link') {
        const target = readLink(path)
        return { type, target, sha256: '', stat: stat(0, sha256(new TextEncoder().encode(target))) }
      }
      return { type, sha256: '', stat: stat(0, `${stats.ino}:${stats.mtime.getTime()}:${stats.nlink}`) }
    },

    /** Every entry, those with names that the guard refuses too; unsorted. */
    entries(path: Path): { name: string; type: EntryType }[] {
      return guard('list', path, () => {
        const found = volume.readdirSync(physical(path), { withFileTypes: true }) as DirentLike[]
        return found.map((entry) => ({ name: String(entry.name), type: typeOf(entry) }))
      })
    },

    readLink,
    makeFile,
    makeDirectory,
    makeLink,
    setTime,

    remove(path: Path, type: EntryType | undefined): void {
      guard('delete', path, () => {
        // It is known to be empty; memfs miscounts what is in a directory after a rename within it.
        if (type === 'directory') volume.rmdirSync(physical(path), { recursive: true })
        else if (type !== undefined) volume.unlinkSync(physical(path))
      })
    },

    restore(path: Path, old: Found): void {
      const { mode, modifiedAt } = old.stat
      if (old.type === 'file') makeFile(path, old.bytes, mode)
      else if (old.type === 'link') makeLink(path, old.target)
      else makeDirectory(path, mode)
      setTime(path, modifiedAt)
    },
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
