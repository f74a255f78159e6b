/**
 * What frameworks ask of a file system or a sandbox, written down after their published types. `doors.ts` compiles the functions of
 * the package against it; `doors.long.ts` compiles the lines of the documentation against the published types.
 */

type MaybePromise<T> = T | Promise<T>

interface FileInfo {
  path: string
  is_dir?: boolean
  size?: number
  modified_at?: string
}

type FileOperationError = 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path'

/** `BackendProtocolV2` of deepagents 1.14, with its optional methods. */
export interface DeepagentsProtocol {
  ls(path: string): MaybePromise<{ error?: string; files?: FileInfo[] }>
  read(
    filePath: string,
    offset?: number,
    limit?: number,
  ): MaybePromise<{
    error?: string
    content?: string | Uint8Array
    mimeType?: string
    totalLines?: number
    startLine?: number
    endLine?: number
    nextOffset?: number
  }>
  readRaw(filePath: string): MaybePromise<{
    error?: string
    data?: { content: string | Uint8Array; mimeType: string; created_at: string; modified_at: string }
  }>
  write(filePath: string, content: string): MaybePromise<{ error?: string; path?: string }>
  edit(
    filePath: string,
    oldString: string,
    newString: string,
    replaceAll?: boolean,
  ): MaybePromise<{ error?: string; path?: string; occurrences?: number }>
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): MaybePromise<{ error?: string; matches?: { path: string; line: number; text: string }[]; truncated?: boolean }>
  glob(pattern: string, path?: string): MaybePromise<{ error?: string; files?: FileInfo[]; truncated?: boolean }>
  delete(filePath: string): MaybePromise<{ error?: string; path?: string }>
  uploadFiles(files: Array<[string, Uint8Array]>): MaybePromise<{ path: string; error: FileOperationError | null }[]>
  downloadFiles(
    paths: string[],
  ): MaybePromise<{ path: string; content: Uint8Array | null; error: FileOperationError | null }[]>
}
