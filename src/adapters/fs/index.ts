/**
 * `node:fs` in shape over the files of a workspace or a run, for libraries that take a file system. Every access is a call of
 * `workspace.files`: judged, audited and undoable.
 */

import { checkArgument, checkOptions, must, type OptionTable, refuseSurplus } from '../../util/check-options.ts'
import { createCallbacks, type FsWatcher } from './callbacks.ts'
import { withChecks } from './check-arguments.ts'
import { createPromises, type FsPromises } from './create-promises.ts'
import { Dir } from './dir.ts'
import type { EncodingOption } from './encoding.ts'
import { waits } from './errors.ts'
import type { FileHandle } from './file-handle.ts'
import { openFlags } from './flags.ts'
import { OpenFiles } from './open-files.ts'
import type { FsPath } from './paths.ts'
import { Dirent, Stats } from './stats.ts'
import {
  createStreams,
  type FsStreamModule,
  type ReadStreamOptions,
  type StreamModule,
  type WriteStreamOptions,
} from './streams.ts'
import { createSync, type FsSync } from './sync.ts'
import { type FsTarget, isWorkspaceOrRun } from './target.ts'
import { COPYFILE_EXCL } from './trees.ts'
import { type CallbackFunction, withCallback } from './with-callback.ts'

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
export type { FsWatcher } from './callbacks.ts'
export type { CopyOptions } from './copy.ts'
export type {
  FsPromises,
  ReadDirectory,
  ReadDirectoryOptions,
  ReadFile,
  ReadFileOptions,
} from './create-promises.ts'
export type { DirectoryOptions } from './directory-names.ts'
export type { EncodingOption, FsEncoding } from './encoding.ts'
export type { FsError } from './errors.ts'
export type { BufferRange, FileHandle, ReadResult, WriteResult } from './file-handle.ts'
export type { FsStream } from './fs-stream.ts'
export type { FsPath } from './paths.ts'
export type { FsMetadata, FsReads, FsWrites } from './promises.ts'
export type { FsStreamModule, ReadStreamOptions, StreamModule, WriteStreamOptions } from './streams.ts'
export type { FsSync, StatOptions } from './sync.ts'
export type { FsTarget } from './target.ts'
export type { EntryTimes, FsTime } from './times.ts'
export type { FsDirectories, FsTransfers, WatchOptions } from './trees.ts'
export type { CallbackFunction } from './with-callback.ts'
export { Dir, Dirent, Stats }

/** The functions with callbacks: those of {@link FsPromises}, and those of files that are open by number. */
export type CallbackName =
  | Exclude<keyof FsPromises, 'watch'>
  | 'close'
  | 'exists'
  | 'fchmod'
  | 'fchown'
  | 'fdatasync'
  | 'fstat'
  | 'fsync'
  | 'ftruncate'
  | 'futimes'
  | 'read'
  | 'readv'
  | 'write'
  | 'writev'

/** The functions of `node:fs` that return neither a promise of {@link FsPromises} nor call back once. */
export interface FsFunctions<S extends StreamModule = FsStreamModule> {
  /** Returns the bytes of a file as a stream, of which one part of 8 MiB is in memory. */
  createReadStream(path: FsPath, options?: EncodingOption | ReadStreamOptions): InstanceType<S['Readable']>
  /**
   * Returns a stream whose content is written to a file at its end, as one change. If it is destroyed before, nothing is
   * written. The content is in memory.
   */
  createWriteStream(path: FsPath, options?: EncodingOption | WriteStreamOptions): InstanceType<S['Writable']>
  /** Returns the content of a file with a type. */
  openAsBlob(path: FsPath, options?: { readonly type?: string }): Promise<Blob>
  /** Emits what {@link FsPromises} yields for `watch`. A last argument that is a function receives each change. */
  watch(path: FsPath, ...args: readonly unknown[]): FsWatcher
}

/** A file system in the shape of `node:fs`. */
export type WorkspaceFs<S extends StreamModule = FsStreamModule> = Readonly<Record<CallbackName, CallbackFunction>> &
  FsFunctions<S> &
  FsSync &
  Readonly<Record<'F_OK' | 'R_OK' | 'W_OK' | 'X_OK', number>> & {
    /** The same as `realpath`. */
    readonly realpath: { readonly native: CallbackFunction }
    /** The functions that return promises. */
    readonly promises: FsPromises & { readonly constants: Readonly<Record<string, number>> }
    /** The values of `node:fs` for `access`, `copyFile`, `open` and modes. */
    readonly constants: Readonly<Record<string, number>>
    /** The class of metadata. */
    readonly Stats: typeof Stats
    /** The class of entries of a directory. */
    readonly Dirent: typeof Dirent
    /** The class of directories that `opendir` opens. */
    readonly Dir: typeof Dir
    /** The class of what `createReadStream` returns. */
    readonly ReadStream: new (
      path: FsPath,
      options?: EncodingOption | ReadStreamOptions,
    ) => InstanceType<S['Readable']>
    /** The class of what `createWriteStream` returns. */
    readonly WriteStream: new (
      path: FsPath,
      options?: EncodingOption | WriteStreamOptions,
    ) => InstanceType<S['Writable']>
  }

/** The values that `access` takes. */
const modes = { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 }

/** The values that `access`, `copyFile`, `open` and `Stats.mode` use. */
const constants = {
  ...modes,
  ...{ COPYFILE_EXCL, COPYFILE_FICLONE: 2, COPYFILE_FICLONE_FORCE: 4 },
  ...openFlags,
  ...{ S_IFMT: 0o170000, S_IFREG: 0o100000, S_IFDIR: 0o040000, S_IFLNK: 0o120000, S_IFSOCK: 0o140000 },
  ...{ S_IFCHR: 0o20000, S_IFBLK: 0o60000, S_IFIFO: 0o10000 },
  ...{ S_IRWXU: 0o700, S_IRUSR: 0o400, S_IWUSR: 0o200, S_IXUSR: 0o100, S_IRWXG: 0o70, S_IRGRP: 0o40, S_IWGRP: 0o20 },
  ...{ S_IXGRP: 0o10, S_IRWXO: 7, S_IROTH: 4, S_IWOTH: 2, S_IXOTH: 1 },
}

/** The names of `node:fs` without one that ends with `Sync`. */
const withoutSync = /^(watch|openAsBlob)$|Stream$/

/** Options of {@link createFs}. */
export interface FsOptions<S extends StreamModule = FsStreamModule> {
  /**
   * The classes that `createReadStream` and `createWriteStream` return instances of: `node:stream`, or `readable-stream` in a
   * page. Default: `node:stream` where the platform has it; elsewhere streams are `ENOSYS`.
   */
  readonly stream?: S
}

const optionTable: OptionTable<FsOptions> = {
  stream: must('a module with Readable and Writable, such as node:stream', (value) => {
    const { Readable, Writable } = Object(value) as Partial<StreamModule>
    return typeof Readable === 'function' && typeof Writable === 'function'
  }),
}

/**
 * Creates the file system of a workspace or a run. `/` and relative paths start at the root of the workspace. Functions throw
 * the errors of Node; a refusal of the workspace is `EACCES` or `EPERM`, with the failure as `cause`. Synchronous functions that
 * read work where the storage has all content in memory, such as `memory()` and `memfs()`; what needs an approval is refused.
 * Others throw `ENOSYS`.
 *
 * @throws TypeError for anything but a workspace or a run, and for an unknown option
 */
export function createFs<S extends StreamModule = FsStreamModule>(
  target: FsTarget,
  options: FsOptions<S> = {},
): WorkspaceFs<S> {
  refuseSurplus('createFs()', 2, arguments)
  checkArgument('createFs()', 'target', target, isWorkspaceOrRun)
  checkOptions('createFs()', options, optionTable)
  const open = new OpenFiles<FileHandle>()
  const unchecked = createPromises(target, open)
  const checked = withChecks(unchecked)
  const promises: Record<string, unknown> = { watch: unchecked.watch }
  for (const [name, { check, run }] of Object.entries(checked)) {
    promises[name] ??= async (...args: readonly unknown[]) => run(check(args))
  }
  const streams = createStreams(target, open, options.stream)
  open.streams = streams
  const own = { ...createCallbacks(promises as unknown as FsPromises, checked, open), ...streams }
  const functions: Record<string, unknown> = {}
  for (const name of new Set([...Object.keys(promises), ...Object.keys(own)])) {
    if (!withoutSync.test(name)) {
      functions[`${name}Sync`] = () => {
        throw waits(name)
      }
    }
    const call = checked[name]
    if (call !== undefined) functions[name] = withCallback((...args: readonly unknown[]) => call.run(args), call)
  }
  Object.assign(functions.realpath as object, { native: functions.realpath })
  const fs = {
    ...functions,
    ...own,
    ...createSync(target),
    ...modes,
    constants,
    ...{ Stats, Dirent, Dir },
    promises: { ...promises, constants },
  }
  return fs as unknown as WorkspaceFs<S>
}
