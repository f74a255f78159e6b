import type { FsStat, IFileSystem } from 'just-bash'
import { type ErrorCode, ToolError } from '../../errors.ts'
import { systemCodes } from '../../storage/system-codes.ts'
import type { CommandStat } from '../types.ts'
import { bytesOfText, textOfBytes } from './byte-encoding.ts'
import {
  type Device,
  HOME,
  type Places,
  resolvePath,
  resolveVirtualPath,
  type VirtualPath,
  withoutFiles,
} from './virtual-paths.ts'

export interface BashFsOptions {
  readonly places: Places
  /** Ends the script where a redirection was refused, as its own error would go through all of the interpreter. */
  readonly ends: (message: string) => Error
  readonly random: (bytes: number) => Uint8Array
}

/**
 * The files of a command as just-bash wants them. Programs are told what a system would tell them (`EACCES`, `ENOENT`);
 * what was refused, and why, is noted behind their back.
 */
export function bashFs(options: BashFsOptions): IFileSystem {
  const place = (path: string) => resolveVirtualPath(resolvePath('/', path), options.places)

  /** Runs an access; what fails has a system's code. */
  async function at<T>(
    path: string,
    verb: string,
    access: (found: Extract<VirtualPath, { in: 'files' }>) => Promise<T>,
    other?: (found: VirtualPath) => T | undefined,
  ): Promise<T> {
    const found = place(path)
    try {
      if (found.in === 'files') return await access(found)
    } catch (error) {
      throw error instanceof ToolError ? systemError(codes[error.code] ?? 'EIO', verb, path) : error
    }
    const given = other?.(found)
    if (given !== undefined) return given
    if (found.in === 'nowhere') {
      const error = new ToolError('PATH_REJECTED', `${JSON.stringify(path)} lies outside the workspace`)
      if (verb !== 'stat' && verb !== 'scandir') options.places.workspace.refuse('file:read', path, error)
      throw systemError('ENOENT', verb, path)
    }
    throw systemError(found.in === 'frame' && verb === 'read' ? 'EISDIR' : 'EACCES', verb, path)
  }

  async function stat(path: string, noFollow: boolean): Promise<FsStat> {
    return at(
      path,
      'stat',
      async ({ files, path: inside }) => {
        const found = await files.stat(inside, { noFollow })
        if (found === undefined) throw new ToolError('NOT_FOUND', 'It does not exist')
        return statsOf(found, path)
      },
      (found) => (found.in === 'frame' ? frameStats(path) : found.in === 'device' ? deviceStats(path) : undefined),
    )
  }

  const readBytes = (path: string): Promise<Uint8Array> =>
    at(
      path,
      'read',
      ({ files, path: inside }) => files.read(inside),
      (found) => (found.in === 'device' ? fromDevice(found.device, options.random) : undefined),
    )

  async function write(path: string, content: string | Uint8Array, encoding: string, append: boolean): Promise<void> {
    const bytes = typeof content === 'string' ? bytesOfText(content, encoding) : content.slice()
    // Opening a redirection: there, the interpreter lets no error of a file system through to the script.
    const opens = content === '' && encoding === 'binary'
    const found = place(path)
    if (found.in === 'device' && found.device === 'null') return
    try {
      await at(path, 'open', async ({ files, path: inside }) => {
        if (append && opens && (await files.stat(inside))?.type === 'file') return
        await files.write(inside, bytes, { append })
      })
    } catch (error) {
      const { code } = error as { code?: string }
      if (!opens || code === undefined) throw error
      throw options.ends(`bash: ${shown(path)}: ${reasons[code] ?? 'Input/output error'}\n`)
    }
  }

  async function remove(path: string, recursive: boolean, force: boolean): Promise<void> {
    await at(path, 'rm', async ({ files, path: inside }) => {
      const found = await files.stat(inside, { noFollow: true })
      if (found === undefined) {
        if (force) return
        throw new ToolError('NOT_FOUND', 'It does not exist')
      }
      if (found.type === 'directory' && !recursive && (await files.list(inside)).length > 0) {
        throw new ToolError('DIRECTORY_NOT_EMPTY', 'It is not empty')
      }
      await files.remove(inside)
    })
  }

  async function copy(from: string, to: string, recursive: boolean): Promise<void> {
    const found = await stat(from, true)
    if (found.isSymbolicLink && recursive) return fs.symlink(await fs.readlink(from), to)
    if (!found.isDirectory) {
      const bytes = await readBytes(from)
      return at(to, 'copyfile', ({ files, path }) => files.write(path, bytes.slice(), { mode: found.mode & 0o777 }))
    }
    if (!recursive) throw systemError('EISDIR', 'copyfile', from)
    // It would never come to an end.
    const [source, target] = [resolvePath('/', from), resolvePath('/', to)]
    if (`${target}/`.startsWith(source === '/' ? '/' : `${source}/`)) throw systemError('EINVAL', 'cp', to)
    await fs.mkdir(to, { recursive: true })
    let failure: unknown
    for (const name of await fs.readdir(from)) {
      // What may be copied is; what may not is told of at the end.
      await copy(`${from}/${name}`, `${to}/${name}`, true).catch((error) => {
        failure ??= error
      })
    }
    if (failure !== undefined) throw failure
  }

  const fs: IFileSystem = {
    ...withoutFiles,
    async readFile(path, how) {
      const encoding = typeof how === 'string' ? how : how?.encoding
      return textOfBytes(await readBytes(path), encoding ?? 'utf8')
    },
    async readFileBytes(path) {
      // Opaque: one unit per byte.
      return textOfBytes(await readBytes(path), 'binary') as unknown as Awaited<
        ReturnType<NonNullable<IFileSystem['readFileBytes']>>
      >
    },
    readFileBuffer: async (path) => (await readBytes(path)).slice(),
    writeFile: (path, content, how) =>
      write(path, content, (typeof how === 'string' ? how : how?.encoding) ?? 'utf8', false),
    appendFile: (path, content, how) =>
      write(path, content, (typeof how === 'string' ? how : how?.encoding) ?? 'utf8', true),
    async exists(path) {
      try {
        await stat(path, false)
        return true
      } catch {
        return false
      }
    },
    stat: (path) => stat(path, false),
    lstat: (path) => stat(path, true),
    async mkdir(path, how) {
      const isDeep = how?.recursive === true
      const { in: part } = place(path)
      if (part === 'nowhere') throw systemError('EACCES', 'mkdir', path)
      if (part !== 'files') {
        if (part === 'frame' && isDeep) return
        throw systemError('EEXIST', 'mkdir', path)
      }
      await at(path, 'mkdir', async ({ files, path: inside }) => {
        const missing: string[] = []
        if (isDeep) {
          if ((await files.stat(inside))?.type === 'directory') return
          for (let above = upper(inside); above !== '.'; above = upper(above)) {
            if ((await files.stat(above)) !== undefined) break
            missing.unshift(above)
          }
        }
        for (const directory of [...missing, inside]) await files.makeDirectory(directory)
      })
    },
    readdir: async (path) => (await list(path)).map(({ name }) => name),
    readdirWithFileTypes: async (path) =>
      (await list(path)).map(({ name, type }) => ({
        name,
        isFile: type === 'file',
        isDirectory: type === 'directory',
        isSymbolicLink: type === 'link',
      })),
    rm: (path, how) => remove(path, how?.recursive === true, how?.force === true),
    cp: (from, to, how) => copy(from, to, how?.recursive === true),
    async mv(from, to) {
      const [source, target] = [place(from), place(to)]
      if (source.in === 'files' && target.in === 'files' && source.files === target.files) {
        return at(from, 'rename', ({ files, path }) => files.rename(path, target.path))
      }
      await copy(from, to, true)
      await remove(from, true, false)
    },
    chmod: (path, mode) => at(path, 'chmod', ({ files, path: inside }) => files.setMode(inside, mode & 0o777)),
    symlink: (target, path) =>
      at(path, 'symlink', ({ files, path: inside }) => files.link(inside, relativeTarget(target, path))),
    link: (from, to) => copy(from, to, false),
    readlink: (path) => at(path, 'readlink', ({ files, path: inside }) => files.readLink(inside)),
    realpath: (path) =>
      at(
        path,
        'realpath',
        async ({ files, path: inside }) => {
          const real = await files.realPath(inside)
          const own = place(path)
          if (own.in === 'files' && own.files !== options.places.workspace) return resolvePath('/', path)
          return real === '' ? HOME : `${HOME}/${real}`
        },
        (found) => (found.in === 'nowhere' ? undefined : resolvePath('/', path)),
      ),
    // Times are not ours to set: what is touched has to be there and may be changed, and stays as it is.
    async utimes(path) {
      const { mode, isFile } = await stat(path, false)
      if (isFile && place(path).in === 'files') await fs.chmod(path, mode)
    },
  }

  const list = (path: string) =>
    at<readonly { name: string; type: string }[]>(
      path,
      'scandir',
      ({ files, path: inside }) => files.list(inside),
      (found) => (found.in === 'frame' ? found.names.map((name) => ({ name, type: 'directory' })) : undefined),
    )

  return fs
}

const codes: Partial<Record<ErrorCode, string>> = {
  ...systemCodes,
  LIMIT_EXCEEDED: 'EFBIG',
  INVALID_INPUT: 'EINVAL',
  POLICY_DENIED: 'EACCES',
  POLICY_DENIED_SECRET: 'EACCES',
  UNSUPPORTED_ENCODING: 'EACCES',
  ABORTED: 'EINTR',
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'No such file or directory',
  EEXIST: 'File exists',
  EISDIR: 'Is a directory',
  ENOTDIR: 'Not a directory',
  ENOTEMPTY: 'Directory not empty',
  ENOSPC: 'No space left on device',
  EFBIG: 'File too large',
  EROFS: 'Read-only file system',
  EINVAL: 'Invalid argument',
  EACCES: 'Permission denied',
  EINTR: 'Interrupted',
}

function systemError(code: string, verb: string, path: string): Error & { code: string } {
  const text = (reasons[code] ?? 'i/o error').toLowerCase()
  return Object.assign(new Error(`${code}: ${text}, ${verb} '${path}'`), { code })
}

/** A path as a script would write it. */
function shown(path: string): string {
  return path.startsWith(`${HOME}/`) ? path.slice(HOME.length + 1) : path
}

function upper(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash === -1 ? '.' : path.slice(0, slash)
}

/** Links are stored relative: what a command writes as a path of its own tree is turned into one. */
function relativeTarget(target: string, link: string): string {
  if (!target.startsWith('/')) return target
  const from = resolvePath('/', link).split('/').slice(1, -1)
  const to = resolvePath('/', target).split('/').slice(1)
  let same = 0
  while (same < from.length && same < to.length - 1 && from[same] === to[same]) same += 1
  return [...from.slice(same).map(() => '..'), ...to.slice(same)].join('/')
}

const BLOCK = new Date(0)

function statsOf(found: CommandStat, path: string): FsStat {
  const { type, size, mode, modifiedAt, tag } = found
  return {
    isFile: type === 'file',
    isDirectory: type === 'directory',
    isSymbolicLink: type === 'link',
    mode: mode ?? (type === 'directory' ? 0o755 : type === 'link' ? 0o777 : 0o644),
    size,
    mtime: modifiedAt === undefined ? BLOCK : new Date(modifiedAt),
    // Without it, every two files would be taken for the same.
    identity: `${found.path} ${tag} ${path.startsWith(HOME)}`,
  }
}

function frameStats(path: string): FsStat {
  return { isFile: false, isDirectory: true, isSymbolicLink: false, mode: 0o555, size: 0, mtime: BLOCK, identity: path }
}

function deviceStats(path: string): FsStat {
  return { isFile: true, isDirectory: false, isSymbolicLink: false, mode: 0o666, size: 0, mtime: BLOCK, identity: path }
}

/** As much as a program gets that reads to an end which there is not. */
const RANDOM_BYTES = 64 * 1024

function fromDevice(device: Device, random: (bytes: number) => Uint8Array): Uint8Array {
  return device === 'null' ? new Uint8Array() : random(RANDOM_BYTES)
}
