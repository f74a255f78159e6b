import type { FileChange } from '../../workspace/files.ts'
import { type CopyFunctions, type CopyOptions, TreeCopy } from './copy.ts'
import { Dir } from './dir.ts'
import { encodingOf, nameIn } from './encoding.ts'
import { abortError, argumentError, asNode, asNodeAnyway, type FsError, fsError } from './errors.ts'
import type { FileHandle } from './file-handle.ts'
import type { OpenFiles } from './open-files.ts'
import { type FsPath, locate } from './paths.ts'
import { findCreated, findEntry, findPath, findPlace, requireParent } from './places.ts'
import { createReads, remove } from './promises.ts'
import type { Dirent } from './stats.ts'
import type { FsTarget } from './target.ts'
import { FileTimes } from './times.ts'

/** Fails if the target exists. */
export const COPYFILE_EXCL = 1

/** Options of `fs.promises.watch`. */
export interface WatchOptions {
  /** Ends the watching. */
  readonly signal?: AbortSignal
  /** Reports changes in directories below as well. Default: false. */
  readonly recursive?: boolean
  /** Has no effect: a watch keeps no program running. */
  readonly persistent?: boolean
  /** The encoding of the names. Default: `utf8`. */
  readonly encoding?: string | null
}

/** What `fs.promises` does with directories. */
export function createDirectories(target: FsTarget, open: OpenFiles<FileHandle>) {
  const { files } = target
  return {
    async mkdir(path: FsPath, options?: number | { readonly recursive?: boolean; readonly mode?: number }) {
      const located = locate(path)
      const { shown } = located
      const recursive = typeof options === 'object' && options?.recursive === true
      return asNodeAnyway('mkdir', shown, async () => {
        if (recursive) return makeTree(target, shown)
        const { path: at } = await findPlace(target, located)
        if ((await findEntry(target, at)) !== undefined) throw fsError('EEXIST', 'mkdir', shown)
        await files.makeDirectory(at, { recursive: false })
        return undefined
      })
    },
    async rmdir(path: FsPath, { recursive = false }: { readonly recursive?: boolean } = {}): Promise<void> {
      const located = locate(path)
      const { shown } = located
      await asNode('rmdir', shown, async () => {
        const { path: at, end } = await findPlace(target, located)
        if (end === '.' || end === '..') throw fsError(end === '.' ? 'EINVAL' : 'ENOTEMPTY', 'rmdir', shown)
        const stat = await findEntry(target, at)
        if (stat !== undefined && stat.type !== 'directory') throw fsError('ENOTDIR', 'rmdir', shown)
        await remove(target, at, stat, { recursive })
      })
    },
    async rm(path: FsPath, options: { readonly recursive?: boolean; readonly force?: boolean } = {}): Promise<void> {
      const located = locate(path)
      const { shown } = located
      const { recursive = false, force = false } = options
      await asNodeAnyway('rm', shown, async () => {
        const [place, stat] = await asNode('lstat', shown, async () => {
          const place = await findPlace(target, located)
          const stat = await findEntry(target, place.path)
          if (place.end === '/' && stat?.type !== 'directory') await findPath(target, located)
          return [place, stat] as const
        }).catch((error: FsError) => {
          if (force && error.code === 'ENOENT') return []
          throw error
        })
        if (stat === undefined && force) return
        if (place === undefined || stat === undefined) throw fsError('ENOENT', 'lstat', shown)
        const { path: at, end } = place
        const isLinked = end === '/' && stat.type === 'link'
        if ((stat.type === 'directory' || isLinked) && !recursive) throw isDirectory(shown)
        // A link is not removed by the name of what it leads to, and neither is a directory by a name that it contains.
        if (isLinked) throw fsError('ENOTDIR', 'rm', shown)
        if (end.startsWith('.')) throw fsError('EINVAL', 'rm', shown)
        await remove(target, at, stat, { recursive })
      })
    },
    async mkdtemp(prefix: string): Promise<string> {
      const { shown } = locate(prefix, 'prefix')
      const suffix = [...crypto.getRandomValues(new Uint8Array(6))]
        .map((byte) => LETTERS[byte % LETTERS.length])
        .join('')
      const located = locate(`${shown}${suffix}`)
      const make = async () => files.makeDirectory((await findPlace(target, located)).path, { recursive: false })
      await asNode('mkdtemp', `${shown}XXXXXX`, make)
      return `${shown}${suffix}`
    },
    async opendir(path: FsPath, options?: string | { readonly encoding?: string; readonly recursive?: boolean }) {
      const given = typeof options === 'string' ? { encoding: options } : options
      const entries = (await createReads(target, open).readdir(path, { ...given, withFileTypes: true })) as Dirent[]
      return new Dir(locate(path).shown, entries)
    },
  }
}

/** What `fs.promises` does with two paths, and `watch`. */
export function createTransfers(target: FsTarget, functions: CopyFunctions) {
  const { files } = target
  return {
    async rename(from: FsPath, to: FsPath): Promise<void> {
      const [source, dest] = [locate(from, 'oldPath'), locate(to, 'newPath')]
      const options = { overwrite: true, createParents: false }
      const rename = async () => {
        const old = await findPlace(target, source)
        const existing = await findEntry(target, old.path)
        if (existing === undefined) await requireParent(target, old.path)
        const next = await findPlace(target, dest)
        await requireParent(target, next.path)
        const ends = [old.end, next.end]
        const isTree = existing?.type === 'directory' || !ends.includes('/')
        const isNamed = !ends.includes('.') && !ends.includes('..')
        const fault = !isNamed ? 'EBUSY' : existing === undefined ? 'ENOENT' : isTree ? undefined : 'ENOTDIR'
        if (fault !== undefined) throw fsError(fault, 'rename', source.shown, dest.shown)
        await FileTimes.of(target).keep(
          (isAfter) => findEntry(target, (isAfter ? next : old).path),
          () => files.rename(old.path, next.path, options),
        )
      }
      await asNodeAnyway('rename', source.shown, rename, dest.shown)
    },
    async copyFile(from: FsPath, to: FsPath, mode = 0): Promise<void> {
      const [source, dest] = [locate(from, 'src'), locate(to, 'dest')]
      await asNodeAnyway(
        'copyfile',
        source.shown,
        async () => {
          const real = (await files.realPath(await findPath(target, source))) || '.'
          const created = await findCreated(target, dest)
          const existing = await files.stat(created)
          const isFree = (await findEntry(target, created)) === undefined
          const overwrite = (mode & COPYFILE_EXCL) === 0
          const isDirectory = existing?.type === 'directory' && overwrite
          const code = isDirectory ? 'EISDIR' : await copyFault(target, { real, to: created, isFree, overwrite })
          if (code !== undefined) throw fsError(code, 'copyfile', source.shown, dest.shown)
          // A link at the new path is followed, as Node does it.
          const to = existing?.path ?? created
          if (to !== real) await files.copy(real, to, { overwrite, createParents: false })
        },
        dest.shown,
      )
    },
    async cp(from: FsPath, to: FsPath, options: CopyOptions = {}): Promise<void> {
      await new TreeCopy(target, functions, options).run(locate(from, 'src').shown, locate(to, 'dest').shown)
    },
    watch: (path: FsPath, options: WatchOptions = {}) => watchPath(target, path, options),
  }
}

/** The error of Node for a directory that `rm` is not asked to remove. */
function isDirectory(path: string): Error {
  const error = new Error(`Path is a directory: rm returned EISDIR (is a directory) ${path}`)
  return Object.assign(error, { name: 'SystemError', code: 'ERR_FS_EISDIR', errno: 21, syscall: 'rm', path })
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'

/** Returns the code of the error that keeps a file from being copied. */
async function copyFault(
  target: FsTarget,
  copy: { readonly real: string; readonly to: string; readonly isFree: boolean; readonly overwrite: boolean },
): Promise<string | undefined> {
  if (!copy.isFree && !copy.overwrite) return 'EEXIST'
  const fault = copy.isFree ? await parentFault(target, copy.to) : undefined
  if (fault !== undefined) return fault
  return (await target.files.stat(copy.real))?.type === 'directory' ? 'EISDIR' : undefined
}

/** Returns the code of the error for a path whose directory does not exist. */
async function parentFault({ files }: FsTarget, path: string): Promise<string | undefined> {
  const end = path.lastIndexOf('/')
  const parent = end < 0 ? undefined : await files.stat(path.slice(0, end))
  if (end >= 0 && parent === undefined) return 'ENOENT'
  return parent === undefined || parent.type === 'directory' ? undefined : 'ENOTDIR'
}

/** Creates a directory with those above it. Returns the first one that it creates, as the program wrote it. */
async function makeTree({ files }: FsTarget, shown: string): Promise<string | undefined> {
  let at = ''
  let first: string | undefined
  /** Directories that are created with the last of them. */
  let isMissing = false
  for (const { 0: name, index } of shown.matchAll(/[^/]+/g)) {
    if (name === '.') continue
    if (name === '..') {
      // What is left again is created, too.
      if (isMissing) await files.makeDirectory(at)
      isMissing = false
      if (at === '') throw fsError('EACCES', 'mkdir', shown)
      at = at.slice(0, Math.max(0, at.lastIndexOf('/')))
      continue
    }
    at = at === '' ? name : `${at}/${name}`
    if (isMissing) continue
    const rest = shown.slice(index + name.length)
    const stat = await files.stat(at)
    if (stat?.type === 'directory') at = stat.path
    else if (stat !== undefined) throw fsError(rest === '' ? 'EEXIST' : 'ENOTDIR', 'mkdir', shown)
    else {
      isMissing = true
      const slashes = rest.search(/[^/]/)
      if ((await files.stat(at, { noFollow: true })) !== undefined) {
        throw fsError(slashes < 0 ? 'ENOENT' : 'ENOTDIR', 'mkdir', shown)
      }
      first ??= slashes < 0 ? shown : shown.slice(0, shown.length - rest.length + slashes - 1)
    }
  }
  if (isMissing) await files.makeDirectory(at)
  return first
}

/** @throws TypeError with the codes of Node for wrong arguments of `watch` */
export function checkWatch(path: FsPath, options: WatchOptions): void {
  locate(path, 'filename')
  if (typeof options !== 'object' || options === null) throw argumentError('options', 'of type object', options)
  for (const name of ['persistent', 'recursive'] as const) {
    const value: unknown = options[name]
    if (value !== undefined && typeof value !== 'boolean')
      throw argumentError(`options.${name}`, 'of type boolean', value)
  }
  encodingOf(options)
  const { signal } = options
  if (signal !== undefined && !('aborted' in Object(signal))) {
    throw argumentError('options.signal', 'an instance of AbortSignal', signal)
  }
}

/** Returns the paths that a watch reports `change` for: its own, and those in the directory. */
async function existingBelow(
  files: FsTarget['files'],
  at: string,
  real: string,
  recursive: boolean,
): Promise<Set<string>> {
  const existing = new Set<string>([real])
  if ((await files.stat(at))?.type !== 'directory') return existing
  const prefix = real === '' || real === '.' ? '' : `${real}/`
  if (recursive) for await (const { path } of files.walk(at)) existing.add(path)
  else for (const { name } of await files.entries(at)) existing.add(prefix + name)
  return existing
}

/** Yields events as `fs.promises.watch`: `rename` for paths that come or go, with names relative to the path. */
async function* watchPath(target: FsTarget, path: FsPath, options: WatchOptions) {
  checkWatch(path, options)
  const { files } = target
  const located = locate(path)
  const { signal, recursive = false } = options
  const [changes, start, known] = await asNode('watch', located.shown, async () => {
    const at = await findPath(target, located)
    if (!(await files.exists(at))) throw fsError('ENOENT', 'watch', located.shown)
    // What changes while the entries are listed is reported, too.
    const watched: AsyncIterable<FileChange> = await files.watch(
      at,
      signal === undefined ? { recursive } : { recursive, signal },
    )
    const real = await files.realPath(at)
    return [watched, real, await existingBelow(files, at, real, recursive)] as const
  })
  for await (const { paths } of changes) {
    if (paths === undefined) yield { eventType: 'change', filename: null }
    for (const changed of paths ?? []) {
      const exists = await files.exists(changed)
      const eventType = exists && known.has(changed) ? 'change' : 'rename'
      if (exists) known.add(changed)
      else for (const one of known) if (one === changed || one.startsWith(`${changed}/`)) known.delete(one)
      yield { eventType, filename: nameIn(options, nameBelow(start, changed)) }
    }
  }
  if (signal?.aborted) throw abortError(signal.reason)
}

/** Returns the name of a path for those who watch a directory or the file itself. */
function nameBelow(start: string, path: string): string {
  if (start === path) return path.slice(path.lastIndexOf('/') + 1)
  return start === '' || start === '.' ? path : path.slice(start.length + 1)
}

/** The functions of `fs.promises` that concern directories. */
export type FsDirectories = ReturnType<typeof createDirectories>

/** The functions of `fs.promises` that take two paths, and `watch`. */
export type FsTransfers = ReturnType<typeof createTransfers>
