/**
 * `node:fs` in shape over the files of a workspace or a run, for libraries that take a file system. Every access is a call of
 * `workspace.files`: judged, audited and undoable.
 */

import { checkArgument, isObjectValue } from '../../util/check-options.ts'
import { fsError } from './errors.ts'
import { createReads, createWrites, type FsReads, type FsTarget, type FsWrites } from './promises.ts'
import { Dirent, Stats } from './stats.ts'
import { COPYFILE_EXCL, createDirectories, createTransfers, type FsDirectories, type FsTransfers } from './trees.ts'

export type {
  FileChange,
  FileDeleteOptions,
  FileOperations,
  FileOptions,
  FileRange,
  FileStat,
  FileTransferOptions,
  FileWriteOptions,
} from '../../workspace/files.ts'
export type { EncodingOption } from './encoding.ts'
export type { FsError } from './errors.ts'
export type { FileHandle } from './file-handle.ts'
export type { FsPath } from './paths.ts'
export type { FsReads, FsTarget, FsWrites } from './promises.ts'
export type { CopyOptions, FsDirectories, FsTransfers } from './trees.ts'
export { Dirent, Stats }

/** The functions of `fs.promises`. */
export type FsPromises = FsReads & FsWrites & FsDirectories & FsTransfers

/** A function with a callback as its last argument, which receives an error or `null`, and the result. */
export type CallbackFunction = (...args: readonly unknown[]) => void

/** The functions with callbacks. They are those of {@link FsPromises}, except `open`, `opendir` and `watch`. */
export type CallbackName = Exclude<keyof FsPromises, 'open' | 'opendir' | 'watch'>

/** A file system in the shape of `node:fs`. */
export type WorkspaceFs = Readonly<Record<CallbackName, CallbackFunction>> & {
  /** The functions that return promises. */
  readonly promises: FsPromises
  /** The values of `node:fs` for `access`, `copyFile` and modes. */
  readonly constants: Readonly<Record<string, number>>
  /** The class of metadata. */
  readonly Stats: typeof Stats
  /** The class of entries of a directory. */
  readonly Dirent: typeof Dirent
}

/** The values that `access`, `copyFile` and `Stats.mode` use. */
const constants = {
  ...{ F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4, COPYFILE_EXCL },
  ...{ S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFLNK: 0o120000 },
}

const withoutCallbacks: ReadonlySet<string> = new Set(['open', 'opendir', 'watch'])

/**
 * Creates the file system of a workspace or a run. `/` and relative paths start at the root of the workspace. Functions throw
 * the errors of Node; a refusal of the workspace is `EACCES` or `EPERM`, with the failure as `cause`. Synchronous functions
 * throw `ENOSYS`, because every access is a call.
 *
 * @throws TypeError for anything but a workspace or a run
 */
export function createFs(target: FsTarget): WorkspaceFs {
  checkArgument('createFs()', 'target', target, isObjectValue)
  checkArgument('createFs()', 'target.files', target.files, isObjectValue)
  const promises: FsPromises = {
    ...createReads(target),
    ...createWrites(target),
    ...createDirectories(target),
    ...createTransfers(target),
  }
  const functions: Record<string, unknown> = {}
  for (const [name, method] of Object.entries(promises)) {
    functions[`${name}Sync`] = () => {
      throw fsError('ENOSYS', name)
    }
    if (!withoutCallbacks.has(name)) functions[name] = withCallback(method as (...args: unknown[]) => Promise<unknown>)
  }
  return { ...functions, promises, constants, Stats, Dirent } as unknown as WorkspaceFs
}

function withCallback(method: (...args: unknown[]) => Promise<unknown>): CallbackFunction {
  return (...args) => {
    const callback = args.at(-1)
    if (typeof callback !== 'function') {
      const error = new TypeError('The "cb" argument must be of type function. Received undefined')
      throw Object.assign(error, { code: 'ERR_INVALID_ARG_TYPE' })
    }
    // An exception of the callback is the program's own, and no rejection of the method.
    method(...args.slice(0, -1)).then(
      (value) => queueMicrotask(() => callback(null, value)),
      (error) => queueMicrotask(() => callback(error)),
    )
  }
}
