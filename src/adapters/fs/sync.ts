import { FilesNow } from '../../call/read-now.ts'
import type { ToolError } from '../../errors.ts'
import type { FileStat } from '../../workspace/files.ts'
import { below, type DirectoryOptions, directoryOptions, namesOf } from './directory-names.ts'
import { decoded, type EncodingOption, encodingOf } from './encoding.ts'
import { asReadError, fsError, isAboutGitData, toFsError, waits } from './errors.ts'
import { readFlag } from './flags.ts'
import { type FsPath, locate } from './paths.ts'
import { findEntryNow, findPathNow } from './places.ts'
import { linkSize } from './promises.ts'
import { type Dirent, Stats, statsAs } from './stats.ts'
import type { FsTarget } from './target.ts'
import { FileTimes } from './times.ts'

/** The functions that read and return at once. */
export type FsSync = ReturnType<typeof createSync>

/** Options of `statSync`. */
export interface StatOptions {
  /** Returns numbers as `bigint`, and times in nanoseconds as well. */
  readonly bigint?: boolean
  /** Returns `undefined` for an absent path if it is false. */
  readonly throwIfNoEntry?: boolean
}

/**
 * Creates the functions that read and return at once, for a storage that has all content in memory. On others they throw
 * `ENOSYS`, with the reason as cause.
 */
export function createSync(target: FsTarget) {
  const { files } = target
  const now = (name: string): FilesNow => {
    const found = FilesNow.of(files)
    if (typeof found === 'string') throw fsError('ENOSYS', name, undefined, undefined, new Error(found))
    return found
  }
  function statOf(path: FsPath, syscall: string, noFollow: boolean): Stats | undefined {
    const located = locate(path)
    const reads = now(`${syscall}Sync`)
    return asNodeNow(syscall, located.shown, () => {
      const stat = unlessAbsent(located.path, () => {
        const at = findPathNow(reads, located)
        return noFollow ? findEntryNow(reads, at) : reads.stat(at)
      })
      return stat && new Stats({ ...stat, size: sizeOf(reads, stat) }, FileTimes.of(target).get(stat))
    })
  }
  function existing(path: FsPath, syscall: string, noFollow: boolean, options?: StatOptions): Stats | undefined {
    const stats = statOf(path, syscall, noFollow)
    if (stats !== undefined || options?.throwIfNoEntry === false) return stats && statsAs(options, stats)
    throw fsError('ENOENT', syscall, locate(path).shown)
  }
  const realpathSync = (path: FsPath): string => {
    const located = locate(path)
    const reads = now('realpathSync')
    const real = asNodeNow('realpath', located.shown, () => reads.realPath(findPathNow(reads, located)))
    return `/${real === '.' ? '' : real}`
  }
  return {
    readFileSync(path: FsPath, options?: EncodingOption | { readonly flag?: unknown }): Uint8Array | string {
      const encoding = encodingOf(options as EncodingOption)
      if (readFlag(Object(options).flag) !== undefined) throw waits('readFile')
      const located = locate(path)
      const reads = now('readFileSync')
      try {
        const bytes = asNodeNow('open', located.shown, () => reads.readBytes(findPathNow(reads, located)))
        // They belong to the backend.
        return decoded(bytes.slice(), encoding)
      } catch (error) {
        throw asReadError(error)
      }
    },
    statSync: (path: FsPath, options?: StatOptions) => existing(path, 'stat', false, options),
    lstatSync: (path: FsPath, options?: StatOptions) => existing(path, 'lstat', true, options),
    accessSync(path: FsPath, mode = 0): void {
      const stats = existing(path, 'access', false)
      if ((mode & 1) === 0 || ((stats?.mode ?? 0) & 0o111) !== 0) return
      throw fsError('EACCES', 'access', locate(path).shown)
    },
    existsSync(path: FsPath): boolean {
      now('existsSync')
      try {
        return statOf(path, 'exists', false) !== undefined
      } catch {
        return false
      }
    },
    readlinkSync(path: FsPath): string {
      const located = locate(path)
      const reads = now('readlinkSync')
      return asNodeNow('readlink', located.shown, () => reads.readLink(findPathNow(reads, located)))
    },
    realpathSync: Object.assign(realpathSync, { native: realpathSync }),
    readdirSync(path: FsPath, options?: DirectoryOptions): string[] | Dirent[] {
      const located = locate(path)
      const { shown } = located
      const reads = now('readdirSync')
      const { withFileTypes, recursive } = directoryOptions(options)
      const found = asNodeNow('scandir', shown, () => {
        const at = findPathNow(reads, located)
        if (recursive) return below(reads.realPath(at), reads.walk(at))
        return reads.entries(at).map(({ name, type }) => ({ path: name, type }))
      })
      return namesOf(found, shown, withFileTypes)
    },
  }
}

function sizeOf(reads: FilesNow, { type, path, size }: FileStat): number {
  if (type !== 'link') return size
  try {
    return linkSize(reads.readLink(path))
  } catch {
    return 0
  }
}

/** Runs an operation. Refusals of the workspace become the error that Node would throw. */
function asNodeNow<T>(syscall: string, path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw toFsError(error, syscall, path)
  }
}

/** Git's own data do not exist for programs, and neither does what is below a directory that does not. */
function unlessAbsent<T>(path: string, act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if (isAboutGitData(error, path) || (error as ToolError).code === 'NOT_FOUND') return undefined
    throw error
  }
}
