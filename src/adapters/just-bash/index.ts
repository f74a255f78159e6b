/** The files and commands of a workspace for just-bash and for bash-tool. */

import { resolvePath } from '../../paths/absolute-path.ts'
import { checkArgument, isBoolean, isListOf, isText, refuseSurplus, shape } from '../../util/check-options.ts'
import type { FileOptions } from '../../workspace/files.ts'
import { createPromises, type FsPromises } from '../fs/create-promises.ts'
import { fsError } from '../fs/errors.ts'
import { OpenFiles } from '../fs/open-files.ts'
import type { Dirent, Stats } from '../fs/stats.ts'
import { encodingAt, isContent, optionsAt, withMethodOptions } from '../sandbox/method-options.ts'
import { runLine } from '../sandbox/run-line.ts'
import { filesTable, openTarget, type SandboxOptions, type SandboxTarget, withText } from '../sandbox/target.ts'

export type { FileOptions } from '../../workspace/files.ts'
export type { SandboxCaller, SandboxOptions, SandboxTarget } from '../sandbox/target.ts'

/** Text in an encoding of Node, or bytes. */
export type JustBashContent = string | Uint8Array
/** An encoding of Node. Default: `utf8`. */
export type JustBashEncoding = string | { readonly encoding?: string | null } | null | undefined

/** Metadata, as just-bash reads it. */
export interface JustBashStat {
  isFile: boolean
  isDirectory: boolean
  isSymbolicLink: boolean
  mode: number
  size: number
  mtime: Date
  /** The canonical path. */
  identity: string
}

/** `IFileSystem` of just-bash. A refusal is the error of a system, with the refusal as its `cause`. */
export interface JustBashFs {
  /** Returns the text of a file. */
  readFile(path: string, options?: JustBashEncoding): Promise<string>
  /** Returns the bytes of a file. */
  readFileBuffer(path: string): Promise<Uint8Array>
  /** Writes or replaces a file. */
  writeFile(path: string, content: JustBashContent, options?: JustBashEncoding): Promise<void>
  /** Adds to the end of a file, which need not exist. */
  appendFile(path: string, content: JustBashContent, options?: JustBashEncoding): Promise<void>
  /** Whether there is an entry that the policy shows. */
  exists(path: string): Promise<boolean>
  /** Returns the metadata of an entry, with links followed. */
  stat(path: string): Promise<JustBashStat>
  /** As `stat`, but does not follow a link. */
  lstat(path: string): Promise<JustBashStat>
  /** Creates a directory; with `recursive`, also those above it. */
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  /** Returns the names in a directory. */
  readdir(path: string): Promise<string[]>
  /** Returns the names in a directory with the types of the entries. */
  readdirWithFileTypes(
    path: string,
  ): Promise<{ name: string; isFile: boolean; isDirectory: boolean; isSymbolicLink: boolean }[]>
  /** Removes a file or a link; with `recursive`, also a directory. `force`: nothing there is no error. */
  rm(path: string, options?: { readonly recursive?: boolean; readonly force?: boolean }): Promise<void>
  /** Copies a file; with `recursive`, also a directory. */
  cp(source: string, target: string, options?: { readonly recursive?: boolean }): Promise<void>
  /** Moves or renames an entry. */
  mv(source: string, target: string): Promise<void>
  /** Joins a path to a directory. */
  resolvePath(base: string, path: string): string
  /** Returns nothing: paths are found by walking alone. */
  getAllPaths(): string[]
  /** Sets the permission bits, such as 0o755. */
  chmod(path: string, mode: number): Promise<void>
  /** Creates a symbolic link. `target` is relative to its directory. */
  symlink(target: string, path: string): Promise<void>
  /** Always fails with `EPERM`: a workspace has no hard links. */
  link(existing: string, path: string): Promise<void>
  /** Returns the target of a link. */
  readlink(path: string): Promise<string>
  /** Returns the absolute path, with all links followed. */
  realpath(path: string): Promise<string>
  /** Fails with `ENOENT` if nothing is there. Times are those of the last change. */
  utimes(path: string, accessed: Date, modified: Date): Promise<void>
}

const methodOptions = {
  ...{ readFile: encodingAt(1), writeFile: encodingAt(2), appendFile: encodingAt(2) },
  ...{ mkdir: optionsAt(1, { recursive: isBoolean }), cp: optionsAt(2, { recursive: isBoolean }) },
  rm: optionsAt(1, { recursive: isBoolean, force: isBoolean }),
}

const isFileList = isListOf(shape({ path: isText, content: isContent }, 'path', 'content'))

/** `Sandbox` of bash-tool. */
export interface BashToolSandbox {
  /** Runs a command line. A refused line has the exit code 126. */
  executeCommand(command: string): Promise<{ stdout: string; stderr: string; exitCode: number }>
  /** Returns the text of a file. Rejects with the code and the hint of a refusal. */
  readFile(path: string): Promise<string>
  /** Writes files, all or none. */
  writeFiles(files: readonly { readonly path: string; readonly content: JustBashContent }[]): Promise<void>
}

/**
 * Returns the files of a workspace or a run as a file system of just-bash, to be mounted: every access of its interpreter is one
 * call with guard, policy, approval, audit and undo.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const filesystem = justBashFs(workspace)
 * const text = await filesystem.readFile('/src/app.ts')
 */
export function justBashFs(target: SandboxTarget, options?: FileOptions): JustBashFs {
  refuseSurplus('justBashFs()', 2, arguments)
  const { files } = openTarget('justBashFs()', target, options, filesTable, '/')
  return withMethodOptions('justBashFs()', justBashOver(createPromises({ files }, new OpenFiles())), methodOptions)
}

/**
 * Returns a workspace or a run as a sandbox of bash-tool, for `createBashTool({ sandbox })`.
 *
 * @throws TypeError for anything but a workspace or a run, and for wrong options
 * @example
 * const { stdout } = await bashToolSandbox(workspace).executeCommand('ls')
 */
export function bashToolSandbox(target: SandboxTarget, options?: SandboxOptions): BashToolSandbox {
  refuseSurplus('bashToolSandbox()', 2, arguments)
  const open = openTarget('bashToolSandbox()', target, options)
  const { files, inward } = open
  return {
    async executeCommand(command) {
      const { stdout, stderr, exitCode } = await runLine(open, command)
      return { stdout, stderr, exitCode }
    },
    readFile: (path) => withText(open, undefined, () => files.readText(inward(path))),
    writeFiles: (given) =>
      withText(open, undefined, async () => {
        const list = checkArgument('bashToolSandbox().writeFiles()', 'files', given, isFileList)
        const [first, ...others] = list
        // A single file is an ordinary write, also for rules on tools.
        if (first !== undefined && others.length === 0)
          return void (await files.write(inward(first.path), first.content))
        await files.batch(async (batch) => {
          for (const { path, content } of list) await batch.write(inward(path), content)
        })
      }),
  }
}

function justBashOver(promises: FsPromises): JustBashFs {
  const encodingIn = (options: JustBashEncoding, otherwise?: string) => {
    const encoding = (typeof options === 'object' ? options?.encoding : options) ?? otherwise
    return encoding === undefined ? {} : { encoding }
  }
  return {
    readFile: async (path, options) => String(await promises.readFile(path, encodingIn(options, 'utf8'))),
    async readFileBuffer(path) {
      // Not a Buffer, whose slice() is another one.
      const { buffer, byteOffset, length } = (await promises.readFile(path)) as Uint8Array
      return new Uint8Array(buffer, byteOffset, length)
    },
    writeFile: async (path, content, options) => promises.writeFile(path, content, encodingIn(options)),
    appendFile: async (path, content, options) => promises.appendFile(path, content, encodingIn(options)),
    exists: (path) =>
      promises.stat(path).then(
        () => true,
        () => false,
      ),
    stat: async (path) => statIn(await promises.stat(path), await promises.realpath(path)),
    lstat: async (path) => statIn(await promises.lstat(path), resolvePath('/', path)),
    mkdir: async (path, options) => void (await promises.mkdir(path, options)),
    readdir: async (path) => (await promises.readdir(path)) as string[],
    readdirWithFileTypes: async (path) =>
      ((await promises.readdir(path, { withFileTypes: true })) as Dirent[]).map((entry) => ({
        name: entry.name,
        isFile: entry.isFile(),
        isDirectory: entry.isDirectory(),
        isSymbolicLink: entry.isSymbolicLink(),
      })),
    rm: (path, options) => promises.rm(path, options),
    cp: (source, target, options) => promises.cp(source, target, options),
    mv: (source, target) => promises.rename(source, target),
    resolvePath,
    getAllPaths: () => [],
    chmod: (path, mode) => promises.chmod(path, mode),
    symlink: (target, path) => promises.symlink(target, path),
    async link(existing, path) {
      throw fsError('EPERM', 'link', existing, path)
    },
    readlink: (path) => promises.readlink(path),
    realpath: (path) => promises.realpath(path),
    utimes: (path) => promises.access(path),
  }
}

function statIn(stats: Stats, identity: string): JustBashStat {
  return {
    isFile: stats.isFile(),
    isDirectory: stats.isDirectory(),
    isSymbolicLink: stats.isSymbolicLink(),
    ...{ mode: stats.mode & 0o7777, size: stats.size, mtime: stats.mtime, identity },
  }
}
