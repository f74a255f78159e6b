import type { CallOptions } from '../call/state/call.ts'
import type { Rates } from '../policy/rate-limits.ts'
import type { DirectoryEntry, EntryType } from '../storage/backend.ts'
import { isUint8Array } from '../util/bytes.ts'
import { checkContent, ratesOf } from './held-bytes.ts'

/** Options of each method of {@link WorkspaceFiles}. In a batch, they are those of the batch. */
export type FileOptions = Pick<CallOptions, 'signal' | 'approve' | 'step'>

/** A part of a file: the bytes `[start, end)`, within its size. */
export interface FileRange {
  /** Default: 0. */
  readonly start?: number
  /** At least `start`. Default: the end of the file. */
  readonly end?: number
}

/** The version that a file must have, or `null` when it must not exist. Default: any. */
interface ExpectedVersion {
  readonly expectedSha256?: string | null
}

/** The version by the tag of its metadata. */
interface ExpectedTag {
  /** The `tag` of {@link FileStat} that the file must have. Default: any. */
  readonly expectedTag?: string
}

interface NewPath {
  /** Creates missing directories. Default: true. */
  readonly createParents?: boolean
}

/** Options of `files.write()`, `files.append()` and `files.writable()`. */
export interface FileWriteOptions extends FileOptions, ExpectedVersion, ExpectedTag, NewPath {
  /** Permission bits, if the backend stores them. Default: those of the existing file. */
  readonly mode?: number
}

/** Options of `files.rename()` and `files.copy()`. */
export interface FileTransferOptions extends FileOptions, NewPath {
  /** Replaces what is at the new path. Default: false. */
  readonly overwrite?: boolean
}

/** Options of `files.delete()`. */
export interface FileDeleteOptions extends FileOptions, ExpectedVersion {
  /** Deletes a directory with everything in it. Default: only an empty one. */
  readonly recursive?: boolean
}

/** Metadata of an entry. */
export interface FileStat {
  /** The canonical path. */
  readonly path: string
  readonly type: EntryType
  /** Bytes of a file; 0 for anything else, and for a file whose content is protected. */
  readonly size: number
  /** Permission bits, if the backend stores them. */
  readonly mode?: number
  /** Milliseconds since 1970, if the backend stores it. */
  readonly modifiedAt?: number
  /** Opaque: equal tags of one path mean equal content. A directory has one tag whatever is in it. */
  readonly tag: string
}

/** A change that `files.watch()` reports. */
export interface FileChange {
  /** Canonical paths that changed. `undefined` if any may have changed: others reported a change without paths. */
  readonly paths: readonly string[] | undefined
  /** The call that made the change. Absent for changes by others. */
  readonly callId?: string
  /** Present if others made the change: the storage or `notifyExternalChange` reported it. */
  readonly external?: true
}

/** The operations of {@link WorkspaceFiles} that a batch has as well. */
export interface FileOperations {
  /**
   * Returns the bytes of a file, or a range of them. Recognized secrets are marks, as in `read`; a range counts the bytes
   * with the marks. A file over 64 MiB is read in ranges, and a range with a secret is refused (`FILE_TOO_LARGE`).
   */
  readBytes(path: string, options?: FileOptions & FileRange): Promise<Uint8Array>
  /** Returns the whole text of a UTF-8 file, without its BOM. @throws ToolError `UNSUPPORTED_ENCODING` */
  readText(path: string, options?: FileOptions): Promise<string>
  /** Returns the metadata of an entry, or `undefined` if nothing is there. Follows links unless `noFollow` is true. */
  stat(path: string, options?: FileOptions & { readonly noFollow?: boolean }): Promise<FileStat | undefined>
  /** Returns whether something is at a path. Follows links. */
  exists(path: string, options?: FileOptions): Promise<boolean>
  /** Returns the visible entries of a directory, sorted by name. Default: the root. */
  entries(path?: string, options?: FileOptions): Promise<readonly DirectoryEntry[]>
  /** Yields everything visible below a directory, each directory before its entries. Default: the root. */
  walk(
    path?: string,
    options?: FileOptions & { readonly maxDepth?: number },
  ): AsyncIterable<{ readonly path: string; readonly type: EntryType }>
  /** Returns the target of a link, as stored. */
  readLink(path: string, options?: FileOptions): Promise<string>
  /** Returns the canonical path, with all links followed. */
  realPath(path: string, options?: FileOptions): Promise<string>
  /**
   * Writes a file of any size, whole and at once, and returns its new version. With a hash or `null` as the third argument,
   * replaces the file that has this version, or creates it.
   */
  write(
    path: string,
    content: string | Uint8Array,
    options?: string | null | FileWriteOptions,
  ): Promise<{ sha256: string }>
  /** Adds to the end of a file, or creates it. Returns its new version. */
  append(path: string, content: string | Uint8Array, options?: FileWriteOptions): Promise<{ sha256: string }>
  /** Sets the permission bits of a file, if the backend stores them. */
  setMode(path: string, mode: number, options?: FileOptions): Promise<void>
  /** Creates a directory. By default with missing parents, and an existing directory is fine. */
  makeDirectory(path: string, options?: FileOptions & { readonly recursive?: boolean }): Promise<void>
  /** Creates a symbolic link. `target` is relative to the directory of the link, and must stay inside the workspace. */
  link(path: string, target: string, options?: FileOptions): Promise<void>
  /** Renames a file, a link or a directory. */
  rename(from: string, to: string, options?: FileTransferOptions): Promise<void>
  /** Copies a file, a link or a directory. */
  copy(from: string, to: string, options?: FileTransferOptions): Promise<void>
  /** Deletes a file, a link or a directory. */
  delete(path: string, options?: FileDeleteOptions): Promise<void>
}

/**
 * The files of a run for the embedding program. Each method is one call: guard, policy, audit and undo apply, with the rules
 * of the tool that does the same. Each throws a `ToolError` if the call is refused.
 */
export interface WorkspaceFiles extends FileOperations {
  /** Returns the text of a file of up to 1000 lines and 64 KiB, with its version. @throws ToolError `FILE_TOO_LARGE` */
  read(path: string): Promise<{ content: string; sha256: string }>
  /** Deletes a file that has the expected version. */
  remove(path: string, expectedSha256: string): Promise<void>
  /** Returns the entries of a directory as `list_directory` does, up to its limit. Default: the root. */
  list(path?: string): Promise<readonly { path: string; type: string }[]>
  /**
   * Returns the bytes of one version of a file as a stream, which fails with `WRITE_CONFLICT` if the file changes. Each part
   * of 8 MiB is a call.
   */
  readable(path: string, options?: FileOptions & FileRange): Promise<ReadableStream<Uint8Array>>
  /** Returns a stream whose content is written when it is closed, as one call. If it is aborted, nothing is written. */
  writable(path: string, options?: FileWriteOptions): Promise<WritableStream<Uint8Array | string>>
  /**
   * Runs a function whose operations are one call: one change set, committed when the function has returned, and undone as a
   * whole. Its reads see its writes. It fails with `WRITE_CONFLICT` if a file that it has read, or asked about, has changed
   * before the commit. If it throws, or a rule denies an operation that it does not catch, nothing is committed.
   *
   * @example
   * await workspace.files.batch(async (files) => {
   *   await files.write('docs/new.md', 'new\n')
   *   await files.append('log.txt', 'wrote docs/new.md\n')
   * })
   */
  batch<R>(act: (files: FileOperations) => Promise<R>, options?: FileOptions): Promise<R>
  /**
   * Returns the changes below a path from now on: by calls of any run, and by others where the backend can tell or
   * `notifyExternalChange` reports them. `recursive: false` is for one directory. With more than 10,000 paths that nobody has
   * taken, one change without paths takes their place. Ends when `signal` aborts. Default: the root.
   */
  watch(path?: string, options?: FileOptions & { readonly recursive?: boolean }): Promise<AsyncIterable<FileChange>>
}

/** The names of the methods. Their code is loaded with the first call. */
const methods =
  'read readBytes readText stat exists entries readLink realPath write append setMode makeDirectory link rename copy delete remove list readable writable batch watch'

/** Creates the files of a run. `load` loads their code. */
export function createFiles(rates: Rates, load: () => Promise<WorkspaceFiles>): WorkspaceFiles {
  const start = async (name: string, args: unknown[]): Promise<unknown> => {
    // The program may write into its bytes once the method has returned.
    const own = args.map((arg) => {
      if (!isUint8Array(arg)) return arg
      checkContent(rates, arg)
      return arg.slice()
    })
    const files = await load()
    return (files[name as keyof WorkspaceFiles] as (...args: unknown[]) => unknown)(...own)
  }
  const files: Record<string, unknown> = {}
  for (const name of methods.split(' ')) files[name] = (...args: unknown[]) => start(name, args)
  files.walk = async function* (...args: unknown[]) {
    yield* (await start('walk', args)) as AsyncIterable<unknown>
  }
  const created = files as unknown as WorkspaceFiles
  ratesOf.set(created, rates)
  return created
}
