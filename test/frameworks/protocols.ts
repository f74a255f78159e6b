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

/** The options of one path of the AI SDK's `SandboxSession`. */
interface PathOptions {
  path: string
  abortSignal?: AbortSignal
}

interface RunOptions {
  command: string
  workingDirectory?: string
  env?: Record<string, string>
  abortSignal?: AbortSignal
}

interface Process {
  readonly stdout: ReadableStream<Uint8Array>
  readonly stderr: ReadableStream<Uint8Array>
  wait(): PromiseLike<{ exitCode: number }>
  kill(): PromiseLike<void>
}

/** `Experimental_SandboxSession` of the AI SDK 7. */
export interface AiSdkProtocol {
  readonly description: string
  readonly readFile: (options: PathOptions) => PromiseLike<ReadableStream<Uint8Array> | null>
  readonly readBinaryFile: (options: PathOptions) => PromiseLike<Uint8Array | null>
  readonly readTextFile: (
    options: PathOptions & { encoding?: string; startLine?: number; endLine?: number },
  ) => PromiseLike<string | null>
  readonly writeFile: (options: PathOptions & { content: ReadableStream<Uint8Array> }) => PromiseLike<void>
  readonly writeBinaryFile: (options: PathOptions & { content: Uint8Array }) => PromiseLike<void>
  readonly writeTextFile: (options: PathOptions & { content: string; encoding?: string }) => PromiseLike<void>
  readonly stat: (options: PathOptions) => PromiseLike<{ type: 'file' | 'directory' | 'other'; size: number } | null>
  readonly listDirectory: (
    options: PathOptions,
  ) => PromiseLike<{ name: string; type: 'file' | 'directory' | 'symlink' | 'other' }[] | null>
  readonly deleteFile: (options: PathOptions) => PromiseLike<boolean>
  readonly spawn: {
    (options: RunOptions & { stdin: true }): PromiseLike<Process & { readonly stdin: WritableStream<Uint8Array> }>
    (options: RunOptions & { stdin?: false }): PromiseLike<Process>
    (options: RunOptions & { stdin?: boolean }): PromiseLike<Process>
  }
  readonly run: (options: RunOptions) => PromiseLike<{ exitCode: number; stdout: string; stderr: string }>
}

interface Applied {
  status?: 'completed' | 'failed'
  output?: string
}

/** `Editor` of the OpenAI Agents SDK. */
export interface OpenAiEditorProtocol {
  createFile(operation: { type: 'create_file'; path: string; diff: string }): Promise<Applied | undefined>
  updateFile(operation: {
    type: 'update_file'
    path: string
    diff: string
    moveTo?: string | undefined
  }): Promise<Applied | undefined>
  deleteFile(operation: { type: 'delete_file'; path: string }): Promise<Applied | undefined>
}

/** `Shell` of the OpenAI Agents SDK. */
export interface OpenAiShellProtocol {
  run(action: { commands: string[]; timeoutMs?: number | undefined; maxOutputLength?: number | undefined }): Promise<{
    output: {
      [field: string]: unknown
      stdout: string
      stderr: string
      outcome: { type: 'timeout' } | { type: 'exit'; exitCode: number | null }
    }[]
    maxOutputLength?: number
  }>
}

/** `WorkspaceFilesystem` of Mastra 1. */
export interface MastraFilesystemProtocol {
  readonly id: string
  readonly name: string
  readonly provider: string
  status: string
  getInstructions?(): string
  readFile(path: string, options?: { encoding?: BufferEncoding }): Promise<string | Buffer>
  writeFile(
    path: string,
    content: string | Buffer | Uint8Array,
    options?: { recursive?: boolean; overwrite?: boolean; mimeType?: string; expectedMtime?: Date },
  ): Promise<void>
  appendFile(path: string, content: string | Buffer | Uint8Array): Promise<void>
  deleteFile(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>
  copyFile(src: string, dest: string, options?: { overwrite?: boolean; recursive?: boolean }): Promise<void>
  moveFile(src: string, dest: string, options?: { overwrite?: boolean; recursive?: boolean }): Promise<void>
  mkdir(path: string, options?: { recursive?: boolean }): Promise<void>
  rmdir(path: string, options?: { recursive?: boolean; force?: boolean }): Promise<void>
  readdir(
    path: string,
    options?: { recursive?: boolean; extension?: string | string[]; maxDepth?: number },
  ): Promise<{ name: string; type: 'file' | 'directory'; size?: number; isSymlink?: boolean }[]>
  grep(options: {
    pattern: string
    path: string
    caseSensitive: boolean
    includeHidden: boolean
    maxCountPerFile?: number
    maxTotalMatches?: number
    contextLines?: number
  }): Promise<
    { path: string; matches: { line: number; column: number; text: string; before?: string[]; after?: string[] }[] }[]
  >
  exists(path: string): Promise<boolean>
  stat(path: string): Promise<{
    name: string
    path: string
    type: 'file' | 'directory'
    size: number
    createdAt: Date
    modifiedAt: Date
  }>
}

/** `WorkspaceSandbox` of Mastra 1. */
export interface MastraSandboxProtocol {
  readonly id: string
  readonly name: string
  readonly provider: string
  status: string
  snapshot(): Promise<void>
  getInstructions?(): string
  executeCommand(
    command: string,
    args?: string[],
    options?: {
      timeout?: number
      env?: NodeJS.ProcessEnv
      cwd?: string
      onStdout?: (data: string) => void
      onStderr?: (data: string) => void
      abortSignal?: AbortSignal
    },
  ): Promise<{ success: boolean; exitCode: number; stdout: string; stderr: string; executionTimeMs: number }>
}

/** `Sandbox` of bash-tool. */
export interface BashToolProtocol {
  executeCommand(command: string): Promise<{ stdout: string; stderr: string; exitCode: number }>
  readFile(path: string): Promise<string>
  writeFiles(files: Array<{ path: string; content: string | Buffer }>): Promise<void>
}

/** `BaseFileStore` of `@langchain/classic` 1.0, without what it inherits. */
export interface LangChainFileStoreProtocol {
  readFile(path: string): Promise<string>
  writeFile(path: string, contents: string): Promise<void>
}
