import type { FsStat } from 'just-bash'
import { ToolError } from '../../errors.ts'
import { type Path, parsePath } from '../../paths/logical-path.ts'
import type { CommandStat } from '../types.ts'
import { asSystemError, systemError } from './fs-errors.ts'
import type { EntryStat } from './observed-stat.ts'
import {
  type Device,
  type FilePath,
  resolvePath,
  resolveVirtualPath,
  type VirtualPath,
  type VirtualRoots,
} from './virtual-paths.ts'

export interface BashFsOptions {
  readonly roots: VirtualRoots
  /** Returns the error that fails the command of a refused redirection: another error would pass through the interpreter. */
  readonly ends: (message: string) => Error
  readonly random: (bytes: number) => Uint8Array
}

/** The accesses that the operations of `bashFs` are made of. Their errors have a system's codes. */
export class FsAccess {
  readonly options: BashFsOptions
  /** The files that the interpreter has opened for redirections by `>>`. */
  readonly appended = new Set<string>()

  constructor(options: BashFsOptions) {
    this.options = options
  }

  locate(path: string): VirtualPath {
    return resolveVirtualPath(resolvePath('/', path), this.options.roots)
  }

  /**
   * Runs an operation on a path of the files. `otherwise` answers for devices and directories outside of them; a path that
   * it does not answer for is refused.
   */
  async run<T>(
    path: string,
    operation: string,
    access: (location: FilePath) => Promise<T>,
    otherwise?: (location: VirtualPath) => T | undefined,
  ): Promise<T> {
    const location = this.locate(path)
    try {
      if (location.in === 'files') return await access(location)
    } catch (error) {
      throw asSystemError(error, operation, path)
    }
    const answer = otherwise?.(location)
    if (answer !== undefined) return answer
    if (location.in === 'nowhere') {
      const error = new ToolError('PATH_REJECTED', `${JSON.stringify(path)} is outside the workspace`)
      if (operation !== 'stat' && operation !== 'scandir' && !this.#isIgnoreFile(path)) {
        this.options.roots.workspace.refuse('file:read', path, error)
      }
      throw systemError('ENOENT', operation, path)
    }
    throw systemError(location.in === 'frame' && operation === 'read' ? 'EISDIR' : 'EACCES', operation, path)
  }

  /** Whether a path is that of an ignore file outside of the root, where `rg` looks for them by itself. */
  #isIgnoreFile(path: string): boolean {
    const [, directory, name] = /^(.*)\/([^/]+)$/.exec(resolvePath('/', path)) ?? []
    return ignoreFiles.has(name) && /^(?:frame|device)$/.test(this.locate(`${directory}/`).in)
  }

  /** @param shows whether the command learns that the entry exists */
  stat(path: string, noFollow: boolean, shows = false): Promise<EntryStat> {
    return this.run<EntryStat>(
      path,
      'stat',
      async ({ files, path: inside }) => {
        const stat = await files.stat(inside, { noFollow })
        if (stat === undefined) throw new ToolError('NOT_FOUND', 'It does not exist')
        const paths = [...new Set([parsePath(inside) as Path, stat.path])]
        if (shows) files.noteShown(paths)
        const { workspace } = this.options.roots
        return {
          ...statsOf(stat, files === workspace),
          ...(files === workspace && stat.type === 'file' ? { paths } : {}),
        }
      },
      ({ in: part }) => (part === 'frame' || part === 'device' ? virtualStats(path, part === 'device') : undefined),
    )
  }

  read(path: string): Promise<Uint8Array> {
    return this.run(
      path,
      'read',
      ({ files, path: inside }) => files.read(inside),
      (location) => (location.in === 'device' ? readDevice(location.device, this.options.random) : undefined),
    )
  }

  /** @param showsAll false for an operation that does not show the names */
  list(path: string, showsAll = true): Promise<readonly { readonly name: string; readonly type: string }[]> {
    return this.run<readonly { name: string; type: string }[]>(
      path,
      'scandir',
      ({ files, path: inside }) => files.list(inside, { showsAll }),
      (location) => {
        if (location.in !== 'frame') return undefined
        const isDevice = (name: string) => this.locate(`${path}/${name}`).in === 'device'
        return location.names.map((name) => ({ name, type: isDevice(name) ? 'file' : 'directory' }))
      },
    )
  }
}

const ignoreFiles: ReadonlySet<string | undefined> = new Set(['.gitignore', '.ignore', '.rgignore'])

const EPOCH = new Date(0)

function statsOf(stat: CommandStat, isWorkspace: boolean): FsStat {
  const { type, size, mode, modifiedAt, tag } = stat
  return {
    isFile: type === 'file',
    isDirectory: type === 'directory',
    isSymbolicLink: type === 'link',
    mode: mode ?? (type === 'directory' ? 0o755 : type === 'link' ? 0o777 : 0o644),
    size,
    mtime: modifiedAt === undefined ? EPOCH : new Date(modifiedAt),
    // Without an identity, just-bash takes any two files for the same.
    identity: `${stat.path} ${tag} ${isWorkspace}`,
  }
}

/** A device, or a directory outside of the workspace. */
function virtualStats(path: string, isFile: boolean): FsStat {
  const mode = isFile ? 0o666 : 0o555
  return { isFile, isDirectory: !isFile, isSymbolicLink: false, mode, size: 0, mtime: EPOCH, identity: path }
}

/** What a program gets that reads `/dev/urandom` to its end, which has none. */
const RANDOM_BYTES = 64 * 1024

function readDevice(device: Device, random: (bytes: number) => Uint8Array): Uint8Array {
  return device === 'null' ? new Uint8Array() : random(RANDOM_BYTES)
}
