import type { FileStat } from '../../workspace/files.ts'
import { below, type DirectoryOptions, directoryOptions, type FoundEntry, namesOf } from './directory-names.ts'
import { decoded, type EncodingOption, encoded, encodingOf } from './encoding.ts'
import { asNode, asNodeAnyway, asReadError, fsError, isAboutGitData } from './errors.ts'
import { FileHandle, isIterated } from './file-handle.ts'
import type { OpenFiles } from './open-files.ts'
import { type FsPath, locate, relativeTarget } from './paths.ts'
import { findCreated, findEntry, findPath, findPlace } from './places.ts'
import { type Dirent, requireOwner, Stats } from './stats.ts'
import type { FsTarget } from './target.ts'
import { type EntryTimes, FileTimes, type FsTime, timesOf } from './times.ts'

type SignalOption = { readonly signal?: AbortSignal }
type DataOptions =
  | EncodingOption
  | (SignalOption & { readonly mode?: number; readonly flag?: string; readonly encoding?: string })

const signalOf = (options: unknown): SignalOption => {
  const { signal } = (typeof options === 'object' && options !== null ? options : {}) as SignalOption
  return signal === undefined ? {} : { signal }
}

/** The bytes of the target of a link, which are its size on a disk. A link that cannot be read has none. */
export const linkSize = (target: string): number => new TextEncoder().encode(target).length

/** Opens a file for one use. The use is one change, and nothing is written if it fails. */
async function withFile<T>(
  target: FsTarget,
  open: OpenFiles<FileHandle>,
  path: FsPath,
  { flag, mode }: { readonly flag: unknown; readonly mode?: number | undefined },
  use: (handle: FileHandle) => Promise<T>,
): Promise<T> {
  const handle = await FileHandle.open(target, open, locate(path), flag, mode)
  try {
    const result = await use(handle)
    await handle.close()
    return result
  } finally {
    handle.discard()
  }
}

/** Returns the metadata of an entry, or undefined for what does not exist in a directory that does. */
export async function lookAt(
  target: FsTarget,
  path: FsPath,
  syscall: string,
  noFollow: boolean,
): Promise<FileStat | undefined> {
  const located = locate(path)
  return asNode(syscall, located.shown, async () => {
    try {
      const at = await findPath(target, located)
      return await (noFollow ? findEntry(target, at) : target.files.stat(at))
    } catch (error) {
      if (isAboutGitData(error, located.path)) return undefined
      throw error
    }
  })
}

/** Reads of `fs.promises`. */
export function createReads(target: FsTarget, open: OpenFiles<FileHandle>) {
  const { files } = target
  async function statOf(path: FsPath, syscall: string, noFollow: boolean): Promise<Stats> {
    const stat = await lookAt(target, path, syscall, noFollow)
    if (stat === undefined) throw fsError('ENOENT', syscall, locate(path).shown)
    const size = stat.type === 'link' ? linkSize(await files.readLink(stat.path).catch(() => '')) : stat.size
    return new Stats({ ...stat, size }, FileTimes.of(target).get(stat))
  }
  return {
    async readFile(path: FsPath | FileHandle, options?: DataOptions): Promise<Uint8Array | string> {
      if (path instanceof FileHandle) return path.readFile(options as EncodingOption)
      const flag = (options as { readonly flag?: string } | undefined)?.flag
      if (flag !== undefined && flag !== null) {
        return withFile(target, open, path, { flag }, (handle) => handle.readFile(options as EncodingOption))
      }
      const encoding = encodingOf(options)
      const located = locate(path)
      const read = async () => files.readBytes(await findPath(target, located), signalOf(options))
      const bytes = await asNode('open', located.shown, read).catch((error: unknown) => {
        throw asReadError(error)
      })
      return decoded(bytes, encoding)
    },
    stat: (path: FsPath): Promise<Stats> => statOf(path, 'stat', false),
    lstat: (path: FsPath): Promise<Stats> => statOf(path, 'lstat', true),
    async access(path: FsPath, mode = 0): Promise<void> {
      const { mode: bits } = await statOf(path, 'access', false)
      if ((mode & 1) !== 0 && (bits & 0o111) === 0) throw fsError('EACCES', 'access', locate(path).shown)
    },
    async readlink(path: FsPath): Promise<string> {
      const located = locate(path)
      return asNode('readlink', located.shown, async () => files.readLink(await findPath(target, located)))
    },
    async realpath(path: FsPath): Promise<string> {
      const located = locate(path)
      const real = await asNode('realpath', located.shown, async () => files.realPath(await findPath(target, located)))
      return `/${real === '.' ? '' : real}`
    },
    async readdir(path: FsPath, options?: DirectoryOptions): Promise<string[] | Dirent[]> {
      const { withFileTypes, recursive } = directoryOptions(options)
      const located = locate(path)
      const { shown } = located
      const found = await asNode('scandir', shown, async (): Promise<readonly FoundEntry[]> => {
        const at = await findPath(target, located)
        if (!recursive) return (await files.entries(at)).map(({ name, type }) => ({ path: name, type }))
        const start = await files.realPath(at)
        const entries: FoundEntry[] = []
        for await (const entry of files.walk(at)) entries.push(entry)
        return below(start, entries)
      })
      return namesOf(found, shown, withFileTypes)
    },
  }
}

/** Deletes an entry, and the times that were set for it. */
export async function remove(
  target: FsTarget,
  at: string,
  entry: FileStat | undefined,
  options: { readonly recursive?: boolean } = {},
) {
  await target.files.delete(at, options)
  if (entry !== undefined) FileTimes.of(target).forget(entry)
}

/** Changes of single files of `fs.promises`. */
export function createWrites(target: FsTarget, open: OpenFiles<FileHandle>) {
  const { files } = target
  async function write(path: FsPath, data: unknown, options: DataOptions, flag: string): Promise<void> {
    const given = typeof options === 'object' && options !== null ? (options as { flag?: string; mode?: number }) : {}
    const flags = given.flag ?? flag
    if (isIterated(data) || !/^(w|a)x?\+?$/.test(flags)) {
      const content = (handle: FileHandle) => handle.writeFile(data, options as EncodingOption)
      return withFile(target, open, path, { flag: flags, mode: given.mode }, content)
    }
    const bytes = encoded(data, encodingOf(options as EncodingOption))
    const located = locate(path)
    const { shown } = located
    await asNodeAnyway('open', shown, async () => {
      const at = await findCreated(target, located)
      // Bits of a file that exists stay.
      const mode = given.mode === undefined || (await files.exists(at)) ? {} : { mode: given.mode & 0o777 }
      const exclusive = flags.includes('x') ? { expectedSha256: null } : {}
      const writeOptions = { ...mode, ...exclusive, ...signalOf(options), createParents: false }
      if (flags.includes('x') && (await findEntry(target, at)) !== undefined) {
        throw fsError('EEXIST', 'open', shown)
      }
      if (flags.startsWith('a')) await files.append(at, bytes, writeOptions)
      else await files.write(at, bytes, writeOptions)
    })
  }
  return {
    async writeFile(path: FsPath | FileHandle, data: unknown, options?: DataOptions): Promise<void> {
      if (path instanceof FileHandle) return path.writeFile(data, options as EncodingOption)
      return write(path, data, options, 'w')
    },
    async appendFile(path: FsPath | FileHandle, data: unknown, options?: DataOptions): Promise<void> {
      if (path instanceof FileHandle) return path.appendFile(data, options as EncodingOption)
      return write(path, data, options, 'a')
    },
    async truncate(path: FsPath, length = 0): Promise<void> {
      await withFile(target, open, path, { flag: 'r+' }, (handle) => handle.truncate(length))
    },
    async unlink(path: FsPath): Promise<void> {
      const located = locate(path)
      const { shown } = located
      await asNodeAnyway('unlink', shown, async () => {
        const { path: at, end } = await findPlace(target, located)
        const entry = await findEntry(target, at)
        if (entry?.type === 'directory') throw fsError('EISDIR', 'unlink', shown)
        if (entry !== undefined && end === '/') throw fsError('ENOTDIR', 'unlink', shown)
        await remove(target, at, entry)
      })
    },
    async symlink(to: string, path: FsPath): Promise<void> {
      const located = locate(path)
      const { shown } = located
      const link = async () => {
        const { path: at, end } = await findPlace(target, located)
        const exists = (await findEntry(target, at)) !== undefined
        if (exists || end === '/') throw fsError(exists ? 'EEXIST' : 'ENOENT', 'symlink', to, shown)
        // An absolute target is written relative to the directory that contains the link.
        const isInside = to.startsWith('/') && at.includes('/')
        const directory = isInside ? await files.realPath(at.slice(0, at.lastIndexOf('/'))) : ''
        await files.link(at, relativeTarget(to, directory))
      }
      await asNode('symlink', to, link, shown)
    },
    async open(path: FsPath, flags: string | number = 'r', mode?: number): Promise<FileHandle> {
      return FileHandle.open(target, open, locate(path), flags, mode)
    },
    /** @throws FsError `EPERM`: there are no hard links */
    async link(existing: FsPath, path: FsPath): Promise<void> {
      throw fsError('EPERM', 'link', locate(existing, 'existingPath').shown, locate(path, 'newPath').shown)
    },
  }
}

/** Permission bits, times and owners of `fs.promises`. */
export function createMetadata(target: FsTarget) {
  const { files } = target
  async function existing(syscall: string, path: FsPath, noFollow: boolean): Promise<FileStat> {
    const stat = await lookAt(target, path, syscall, noFollow)
    if (stat === undefined) throw fsError('ENOENT', syscall, locate(path).shown)
    return stat
  }
  const setTimes = async (syscall: string, path: FsPath, noFollow: boolean, times: EntryTimes) =>
    FileTimes.of(target).set(await existing(syscall, path, noFollow), times, syscall, locate(path).shown)
  return {
    async chmod(path: FsPath, mode: number | string): Promise<void> {
      const located = locate(path)
      const bits = typeof mode === 'string' ? Number.parseInt(mode, 8) : mode
      await asNode('chmod', located.shown, async () => {
        const at = await findPath(target, located)
        await FileTimes.of(target).keep(
          () => files.stat(at),
          () => files.setMode(at, bits & 0o7777),
        )
      })
    },
    /** Sets the times that `stat` returns, until the entry changes or the process ends. The storage does not keep them. */
    async utimes(path: FsPath, accessed: FsTime, modified: FsTime): Promise<void> {
      await setTimes('utime', path, false, timesOf(accessed, modified))
    },
    /** As `utimes`, for a link itself. */
    async lutimes(path: FsPath, accessed: FsTime, modified: FsTime): Promise<void> {
      await setTimes('lutime', path, true, timesOf(accessed, modified))
    },
    /** Files belong to user and group 0. @throws FsError `EPERM` for others */
    async chown(path: FsPath, user: number, group: number): Promise<void> {
      await existing('chown', path, false)
      requireOwner('chown', locate(path).shown, user, group)
    },
    async lchown(path: FsPath, user: number, group: number): Promise<void> {
      await existing('lchown', path, true)
      requireOwner('lchown', locate(path).shown, user, group)
    },
  }
}

/** The functions of `fs.promises` that read. */
export type FsReads = ReturnType<typeof createReads>

/** The functions of `fs.promises` that change single files. */
export type FsWrites = ReturnType<typeof createWrites>

/** The functions of `fs.promises` that concern permission bits, times and owners. */
export type FsMetadata = ReturnType<typeof createMetadata>
