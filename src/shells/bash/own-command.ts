/**
 * A command of one's own. It runs in the thread that has created the shell, with the files of the line. A text that it returns is its
 * standard output. An error that it throws is a message on standard error, and exit code 1.
 */
export type OwnCommand = (
  args: readonly string[],
  context: OwnCommandContext,
) => OwnCommandResult | string | undefined | Promise<OwnCommandResult | string | undefined>

/** The surroundings of a command of one's own. */
export interface OwnCommandContext {
  /** The guarded files. Changes count as changes of the line: they are judged, audited, and dropped if the line is. */
  readonly fs: OwnCommandFiles
  /** The directory in the tree that commands see, such as `/workspace/src`. */
  readonly cwd: string
  /** The exported variables. */
  readonly env: Readonly<Record<string, string>>
  /** Standard input as UTF-8 text. */
  readonly stdin: string
  readonly stdinBytes: Uint8Array
  /** Aborted when the line is stopped or its time is over. */
  readonly signal: AbortSignal
}

/** What a command of one's own returns. Without an exit code it has succeeded. */
export interface OwnCommandResult {
  readonly stdout?: string | Uint8Array
  readonly stderr?: string | Uint8Array
  /** A whole number from 0 to 255. */
  readonly exitCode?: number
}

/**
 * The files that a command sees, under the names of just-bash. Relative paths begin at the directory of the command. Errors
 * have the codes of a system: `ENOENT`, `EACCES` for a refusal.
 */
export interface OwnCommandFiles {
  /** Returns the UTF-8 text of a file, with recognized secrets replaced by marks. */
  readFile(path: string): Promise<string>
  /** Returns the bytes of a file, with marks as in `readFile`. */
  readFileBuffer(path: string): Promise<Uint8Array>
  /** Writes or replaces a file. */
  writeFile(path: string, content: string | Uint8Array): Promise<void>
  /** Adds to the end of a file, which need not exist. */
  appendFile(path: string, content: string | Uint8Array): Promise<void>
  /** Whether there is an entry that the command may see. */
  exists(path: string): Promise<boolean>
  /** Returns the metadata of an entry, with links followed. */
  stat(path: string): Promise<OwnCommandStat>
  /** As `stat`, but does not follow a link. */
  lstat(path: string): Promise<OwnCommandStat>
  /** Returns the names in a directory. */
  readdir(path: string): Promise<string[]>
  /** Creates a directory; with `recursive`, also those above it. */
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>
  /** Removes a file or a link; with `recursive`, also a directory. `force`: nothing there is no error. */
  rm(path: string, options?: { readonly recursive?: boolean; readonly force?: boolean }): Promise<void>
  /** Copies a file; with `recursive`, also a directory. */
  cp(from: string, to: string, options?: { readonly recursive?: boolean }): Promise<void>
  /** Moves or renames an entry. */
  mv(from: string, to: string): Promise<void>
  /** Sets the permission bits, such as 0o755. */
  chmod(path: string, mode: number): Promise<void>
  /** Creates a symbolic link. `target` is relative to its directory. */
  symlink(target: string, path: string): Promise<void>
  /** Returns the target of a link. */
  readlink(path: string): Promise<string>
  /** Returns the absolute path, with all links followed. */
  realpath(path: string): Promise<string>
}

/** Metadata of an entry. */
export interface OwnCommandStat {
  readonly isFile: boolean
  readonly isDirectory: boolean
  readonly isSymbolicLink: boolean
  /** Permission bits, such as 0o644. */
  readonly mode: number
  /** In bytes. */
  readonly size: number
  readonly mtime: Date
}
