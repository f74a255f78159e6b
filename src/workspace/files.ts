import type { CallOptions } from '../call/state/call.ts'
import type { EntryType } from '../storage/backend.ts'

/** Options of each method of {@link WorkspaceFiles}. */
export type FileOptions = Pick<CallOptions, 'signal' | 'approve' | 'step'>

/** A part of a file: the bytes `[start, end)`, within its size. */
export interface FileRange {
  /** Default: 0. */
  readonly start?: number
  /** Default: the end of the file. */
  readonly end?: number
}

/** Options of `files.write()` and `files.append()`. */
export interface FileWriteOptions extends FileOptions {
  /** The version that the file must have; `null`: it must not exist. Default: any. */
  readonly expectedSha256?: string | null
  /** Permission bits, if the backend stores them. Default: those of the existing file. */
  readonly mode?: number
  /** Creates missing directories. Default: true. */
  readonly createParents?: boolean
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
  /** Opaque: equal tags of one path mean equal content. */
  readonly tag: string
}

/**
 * The files of a run for the embedding program. Each method is one call: guard, policy, audit and undo apply, with the rules
 * of the tool that does the same. Each throws a `ToolError` if the call is refused.
 */
export interface WorkspaceFiles {
  /** Returns the text of a file of up to 1000 lines and 64 KiB, with its version. @throws ToolError `FILE_TOO_LARGE` */
  read(path: string): Promise<{ content: string; sha256: string }>
  /**
   * Returns the bytes of a file, or a range of them. Recognized secrets are marks, as in `read`; a range counts the bytes
   * with the marks.
   */
  readBytes(path: string, options?: FileOptions & FileRange): Promise<Uint8Array>
  /**
   * Writes a file of any size, whole and at once, and returns its new version. With a hash or `null` as the third argument,
   * replaces the file that has this version, or creates it.
   */
  write(
    path: string,
    content: string | Uint8Array,
    options?: string | null | FileWriteOptions,
  ): Promise<{ sha256: string }>
  /** Deletes a file that has the expected version. */
  remove(path: string, expectedSha256: string): Promise<void>
  /** Returns the entries of a directory. Default: the root. */
  list(path?: string): Promise<readonly { path: string; type: string }[]>
  /** Returns the metadata of an entry, or `undefined` if nothing is there. Follows links unless `noFollow` is true. */
  stat(path: string, options?: FileOptions & { readonly noFollow?: boolean }): Promise<FileStat | undefined>
}

/** The names of the methods. Their code is loaded with the first call. */
const methods = ['read', 'readBytes', 'write', 'remove', 'list', 'stat'] as const

/** Creates the files of a run. `load` loads their code. */
export function createFiles(load: () => Promise<WorkspaceFiles>): WorkspaceFiles {
  const entries = methods.map((name) => {
    const method = async (...args: unknown[]) => {
      // The program may write into its bytes once the method has returned.
      const own = args.map((arg) => (arg instanceof Uint8Array ? arg.slice() : arg))
      const files = await load()
      return (files[name] as (...args: unknown[]) => Promise<unknown>)(...own)
    }
    return [name, method]
  })
  return Object.fromEntries(entries) as unknown as WorkspaceFiles
}
