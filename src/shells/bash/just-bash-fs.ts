import type { FsStat, IFileSystem } from 'just-bash'
import { ToolError } from '../../errors.ts'
import { copyBytes } from '../../util/bytes.ts'
import { createPacer } from '../../util/pacer.ts'
import { bytesOfText, textOfBytes } from './byte-encoding.ts'
import { type BashFsOptions, FsAccess } from './fs-access.ts'
import { reasonOf, type SystemError, systemError } from './fs-errors.ts'
import { observeStat } from './observed-stat.ts'
import { type FilePath, resolvePath, withoutFiles, workspacePath } from './virtual-paths.ts'

/**
 * The files of a command as just-bash's file system. Programs get the errors of a system (`EACCES`, `ENOENT`); the files
 * record what was refused, and why.
 */
export function bashFs(options: BashFsOptions): IFileSystem {
  const access = new FsAccess(options)
  const { noteMetadata } = options.roots.workspace
  return { ...withoutFiles, ...reads(access), ...writes(access), ...trees(access), ...{ noteMetadata } }
}

type Reads = Pick<
  IFileSystem,
  | 'readFile'
  | 'readFileBytes'
  | 'readFileBuffer'
  | 'exists'
  | 'stat'
  | 'lstat'
  | 'readdir'
  | 'readdirWithFileTypes'
  | 'readlink'
  | 'realpath'
>
type Writes = Pick<IFileSystem, 'writeFile' | 'appendFile' | 'mkdir' | 'chmod' | 'symlink' | 'utimes'>
type Trees = Pick<IFileSystem, 'rm' | 'cp' | 'mv' | 'link'>

function reads(access: FsAccess): Reads {
  return {
    async readFile(path, encoding) {
      return textOfBytes(await access.read(path), encodingOf(encoding))
    },
    async readFileBytes(path) {
      // An opaque type of just-bash: a string with one character per byte.
      return textOfBytes(await access.read(path), 'binary') as unknown as Awaited<
        ReturnType<NonNullable<IFileSystem['readFileBytes']>>
      >
    },
    readFileBuffer: async (path) => copyBytes(await access.read(path)),
    exists: (path) => isVisible(access, path),
    stat: (path) => look(access, path, false),
    lstat: (path) => look(access, path, true),
    readdir: async (path) => (await access.list(path)).map(({ name }) => name),
    readdirWithFileTypes: async (path) =>
      (await access.list(path)).map(({ name, type }) => ({
        name,
        isFile: type === 'file',
        isDirectory: type === 'directory',
        isSymbolicLink: type === 'link',
      })),
    readlink: (path) => readLink(access, path),
    realpath: (path) =>
      access.run(
        path,
        'realpath',
        async ({ files, path: inside }) => {
          const real = await files.realPath(inside)
          if (files !== access.options.roots.workspace) return resolvePath('/', path)
          const { root } = access.options.roots
          return real === '' ? root : `${root}/${real}`
        },
        (location) => (location.in === 'nowhere' ? undefined : resolvePath('/', path)),
      ),
  }
}

function writes(access: FsAccess): Writes {
  return {
    writeFile: (path, content, encoding) => write(access, path, content, encodingOf(encoding), false),
    appendFile: (path, content, encoding) => write(access, path, content, encodingOf(encoding), true),
    mkdir: (path, options) => makeDirectory(access, path, options?.recursive === true),
    chmod: (path, mode) => setMode(access, path, mode),
    symlink: (target, path) => makeLink(access, target, path),
    // Times cannot be set. The file has to exist and to be writable, and stays as it is.
    async utimes(path) {
      const { mode, isFile } = await access.stat(path, false)
      if (isFile && access.locate(path).in === 'files') await setMode(access, path, mode)
    },
  }
}

function trees(access: FsAccess): Trees {
  return {
    rm: (path, options) => remove(access, path, options?.recursive === true, options?.force === true),
    cp: (from, to, options) =>
      intoHidden(access, from, to, (target, mayExist) =>
        copy(access, from, target, options?.recursive === true, mayExist),
      ),
    mv: (from, to) => intoHidden(access, from, to, (target) => move(access, from, target)),
    link: (from, to) => intoHidden(access, from, to, (target) => copy(access, from, target, false)),
  }
}

async function move(access: FsAccess, from: string, to: string): Promise<void> {
  const [source, target] = [access.locate(from), access.locate(to)]
  if (source.in === 'files' && target.in === 'files' && source.files === target.files) {
    return access.run(from, 'rename', ({ files, path }) => files.rename(path, target.path))
  }
  await copy(access, from, to, true)
  await remove(access, from, true, false)
}

/**
 * Copies or moves an entry. A command that names a directory as the target adds the name of the source, unless the directory is
 * hidden from it; then the name is added here. A directory is copied into a hidden one of the same name.
 *
 * @param act `mayExist`: whether the target may be a directory
 */
async function intoHidden(
  access: FsAccess,
  from: string,
  to: string,
  act: (target: string, mayExist: boolean) => Promise<void>,
): Promise<void> {
  try {
    await act(to, false)
  } catch (error) {
    const { code } = (error as SystemError).refusal ?? {}
    const name = nameOf(from)
    const isDirectory = code === 'IS_DIRECTORY' || code === 'DIRECTORY_NOT_EMPTY'
    const isSameName = nameOf(to) === name
    const isKnown = code === 'ALREADY_EXISTS' || (isDirectory && !isSameName)
    if (!isKnown || (await isVisible(access, to))) throw error
    await act(isSameName ? to : resolvePath(to, name), true)
  }
}

const nameOf = (path: string): string => resolvePath('/', path).split('/').at(-1) ?? ''

/** Returns the stat of an entry for a command, which so receives its name, and what it uses of its metadata. */
async function look(access: FsAccess, path: string, noFollow: boolean): Promise<FsStat> {
  const stat = await access.stat(path, noFollow, true)
  return observeStat(stat, access.options.roots.workspace.noteMetadata)
}

async function isVisible(access: FsAccess, path: string): Promise<boolean> {
  try {
    await access.stat(path, false, true)
    return true
  } catch {
    return false
  }
}

function encodingOf(options: string | { encoding?: string | null } | null | undefined): string {
  return (typeof options === 'string' ? options : options?.encoding) ?? 'utf8'
}

async function write(
  access: FsAccess,
  path: string,
  content: string | Uint8Array,
  encoding: string,
  append: boolean,
): Promise<void> {
  const bytes = typeof content === 'string' ? bytesOfText(content, encoding) : copyBytes(content)
  // The interpreter opens a redirection by an empty write. If that fails, the command of the redirection does. After `>` has
  // emptied the file, an error drops the whole line, so that no content is lost.
  const isOpening = content === '' && encoding === 'binary'
  const absolute = resolvePath('/', path)
  if (isOpening && append) access.appended.add(absolute)
  const failsCommand = isOpening || (append && access.appended.has(absolute))
  const location = access.locate(path)
  if (location.in === 'device' && location.device === 'null') return
  try {
    await access.run(path, 'open', async ({ files, path: inside }) => {
      if (append && isOpening && (await files.stat(inside))?.type === 'file') return
      await files.write(inside, bytes, { append })
    })
  } catch (error) {
    const { code } = error as { code?: string }
    if (!failsCommand || code === undefined) throw error
    throw access.options.ends(`bash: ${displayPath(path, access.options.roots.root)}: ${reasonOf(code)}\n`)
  }
}

/** @param mayExist whether the directory may be there already, but hidden */
async function makeDirectory(access: FsAccess, path: string, isDeep: boolean, mayExist = isDeep): Promise<void> {
  const { in: part } = access.locate(path)
  if (part === 'nowhere') throw systemError('EACCES', 'mkdir', path)
  if (part !== 'files') {
    if (part === 'frame' && isDeep) return
    throw systemError('EEXIST', 'mkdir', path)
  }
  await access.run(path, 'mkdir', async ({ files, path: inside }) => {
    if (isDeep && (await files.stat(inside))?.type === 'directory') return
    const missing = isDeep ? await missingAbove(files, inside) : []
    const pause = createPacer()
    // A hidden directory counts as missing.
    for (const directory of [...missing, inside]) {
      await files.makeDirectory(directory, { mayExist: directory === inside ? mayExist : true })
      await pause()
    }
  })
}

/** Returns the directories above a path that do not exist, outermost first. Looks at few of them, the nearest first. */
async function missingAbove(files: FilePath['files'], path: string): Promise<string[]> {
  const directories: string[] = []
  for (let slash = path.indexOf('/'); slash !== -1; slash = path.indexOf('/', slash + 1)) {
    directories.push(path.slice(0, slash))
  }
  const exists = async (index: number) => (await files.stat(directories[index] as string)) !== undefined
  let lastExisting = -1
  let firstMissing = directories.length
  for (let step = 1; firstMissing > 0; step *= 2) {
    const index = Math.max(0, firstMissing - step)
    if (await exists(index)) {
      lastExisting = index
      break
    }
    firstMissing = index
  }
  while (firstMissing - lastExisting > 1) {
    const middle = (firstMissing + lastExisting) >> 1
    if (await exists(middle)) lastExisting = middle
    else firstMissing = middle
  }
  return directories.slice(firstMissing)
}

const setMode = (access: FsAccess, path: string, mode: number): Promise<void> =>
  access.run(path, 'chmod', ({ files, path: inside }) => files.setMode(inside, mode & 0o777))

const makeLink = (access: FsAccess, target: string, path: string): Promise<void> =>
  access.run(path, 'symlink', ({ files, path: inside }) => files.link(inside, relativeTarget(target, path)))

const readLink = (access: FsAccess, path: string): Promise<string> =>
  access.run(path, 'readlink', ({ files, path: inside }) => files.readLink(inside))

async function remove(access: FsAccess, path: string, recursive: boolean, force: boolean): Promise<void> {
  await access.run(path, 'rm', async ({ files, path: inside }) => {
    const stat = await files.stat(inside, { noFollow: true })
    if (stat === undefined) {
      // No listing has the files of git, but they are there: the refusal is recorded.
      if (/(^|\/)\.git(\/|$)/i.test(inside)) return files.remove(inside)
      if (force) return
      throw new ToolError('NOT_FOUND', 'It does not exist')
    }
    if (stat.type === 'directory' && !recursive && (await files.list(inside, { showsAll: false })).length > 0) {
      throw new ToolError('DIRECTORY_NOT_EMPTY', 'It is not empty')
    }
    await files.remove(inside)
  })
}

async function copy(
  access: FsAccess,
  from: string,
  to: string,
  recursive: boolean,
  mayExist = false,
  pause = createPacer(),
): Promise<void> {
  const stat = await access.stat(from, true)
  if (stat.isSymbolicLink && recursive) return makeLink(access, await readLink(access, from), to)
  if (!stat.isDirectory) {
    const mode = stat.mode & 0o777
    const [source, target] = [access.locate(from), access.locate(to)]
    if (source.in === 'files' && target.in === 'files' && source.files === target.files) {
      return access.run(to, 'copyfile', ({ files, path }) => files.copy(source.path, path, { mode }))
    }
    const bytes = await access.read(from)
    return access.run(to, 'copyfile', ({ files, path }) => files.write(path, copyBytes(bytes), { mode }))
  }
  if (!recursive) throw systemError('EISDIR', 'copyfile', from)
  // A copy of a directory into itself would never end.
  const [source, target] = [resolvePath('/', from), resolvePath('/', to)]
  if (`${target}/`.startsWith(source === '/' ? '/' : `${source}/`)) throw systemError('EINVAL', 'cp', to)
  await makeDirectory(access, to, true, mayExist)
  let failure: unknown
  await pause()
  for (const { name } of await access.list(from, false)) {
    // A refused entry does not stop the others; the first failure is thrown at the end.
    await copy(access, `${from}/${name}`, `${to}/${name}`, true, true, pause).catch((error) => {
      failure ??= error
    })
  }
  if (failure !== undefined) throw failure
}

/** A path as a script would write it: relative to the workspace. */
function displayPath(path: string, root: string): string {
  const inside = workspacePath(path, root)
  return inside === undefined || inside === '.' ? path : inside
}

/** Links are stored relative: an absolute target of the command's tree becomes relative to the link's directory. */
function relativeTarget(target: string, link: string): string {
  if (!target.startsWith('/')) return target
  const from = resolvePath('/', link).split('/').slice(1, -1)
  const to = resolvePath('/', target).split('/').slice(1)
  let common = 0
  while (common < from.length && common < to.length - 1 && from[common] === to[common]) common += 1
  return [...from.slice(common).map(() => '..'), ...to.slice(common)].join('/')
}
