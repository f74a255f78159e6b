import { FilesNow } from '../../call/read-now.ts'
import { below, type DirectoryOptions, directoryOptions, namesOf } from './directory-names.ts'
import { decoded, type EncodingOption, encodingOf } from './encoding.ts'
import { asReadError, fsError, toFsError } from './errors.ts'
import { type FsPath, locate } from './paths.ts'
import { isAboutGitData } from './promises.ts'
import { type Dirent, Stats } from './stats.ts'
import type { FsTarget } from './target.ts'

/** The functions that read and return at once. */
export type FsSync = ReturnType<typeof createSync>

/** Options of `statSync`. */
export interface StatOptions {
  /** Returns `undefined` for an absent path if it is false. */
  readonly throwIfNoEntry?: boolean
}

/**
 * Creates the functions that read and return at once, for a storage that has all content in memory. On others they throw
 * `ENOSYS`, with the reason as cause.
 */
export function createSync({ files }: FsTarget) {
  const now = (name: string): FilesNow => {
    const found = FilesNow.of(files)
    if (typeof found === 'string') throw fsError('ENOSYS', name, undefined, undefined, new Error(found))
    return found
  }
  function statOf(path: FsPath, syscall: string, noFollow: boolean): Stats | undefined {
    const { shown, path: at } = locate(path)
    const reads = now(`${syscall}Sync`)
    return asNodeNow(syscall, shown, () => {
      const stat = at === '' ? undefined : withoutGitData(at, () => reads.stat(at, noFollow))
      return stat && new Stats(stat)
    })
  }
  function existing(path: FsPath, syscall: string, noFollow: boolean, options?: StatOptions): Stats | undefined {
    const stats = statOf(path, syscall, noFollow)
    if (stats !== undefined || options?.throwIfNoEntry === false) return stats
    throw fsError('ENOENT', syscall, locate(path).shown)
  }
  const realpathSync = (path: FsPath): string => {
    const { shown, path: at } = locate(path)
    const reads = now('realpathSync')
    const real = asNodeNow('realpath', shown, () => reads.realPath(at))
    return `/${real === '.' ? '' : real}`
  }
  return {
    readFileSync(path: FsPath, options?: EncodingOption): Uint8Array | string {
      const encoding = encodingOf(options)
      const { shown, path: at } = locate(path)
      const reads = now('readFileSync')
      try {
        // The bytes belong to the backend.
        return decoded(asNodeNow('open', shown, () => reads.readBytes(at)).slice(), encoding)
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
      const reads = now('existsSync')
      try {
        const { path: at } = locate(path)
        return at !== '' && withoutGitData(at, () => reads.stat(at)) !== undefined
      } catch {
        return false
      }
    },
    readlinkSync(path: FsPath): string {
      const { shown, path: at } = locate(path)
      const reads = now('readlinkSync')
      return asNodeNow('readlink', shown, () => reads.readLink(at))
    },
    realpathSync: Object.assign(realpathSync, { native: realpathSync }),
    readdirSync(path: FsPath, options?: DirectoryOptions): string[] | Dirent[] {
      const { shown, path: at } = locate(path)
      const reads = now('readdirSync')
      const { withFileTypes, recursive } = directoryOptions(options)
      const found = asNodeNow('scandir', shown, () =>
        recursive
          ? below(reads.realPath(at), reads.walk(at))
          : reads.entries(at).map(({ name, type }) => ({ path: name, type })),
      )
      return namesOf(found, shown, withFileTypes)
    },
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

/** Git's own data do not exist for programs. */
function withoutGitData<T>(path: string, act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if (isAboutGitData(error, path)) return undefined
    throw error
  }
}
