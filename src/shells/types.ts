import type { ErrorCode, ToolError } from '../errors.ts'
import type { LogEntry, PullResult, Repository, StashEntry } from '../git/provider.ts'
import type { Visibility } from '../guard/visibility.ts'
import type { LogicalPath, Path } from '../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../policy/access.ts'
import type { ContentFlow } from '../policy/content-flow.ts'
import type { Policy, PolicyCall, Verdict } from '../policy/evaluation.ts'
import type { Label } from '../policy/labels.ts'
import type { Permission } from '../policy/permissions.ts'
import type { ContentLabel } from '../policy/taint.ts'
import type { Change, DirectoryEntry, Stat } from '../storage/backend.ts'
import type { CommandVerdict, JudgedCommand } from './analysis/index.ts'

/** What a shell can do. Tools and policy read this before they run a line. */
export interface ShellCapabilities {
  /** Commands are real processes of an operating system. */
  readonly processes: boolean
  /** Commands can reach a network. */
  readonly network: boolean
  /** Lines can run in the background. */
  readonly background: boolean
  /** Error output is separate. If not, `stdout` contains both streams in order of arrival. */
  readonly stderr: boolean
  /** Every file access of a command goes through {@link CommandFiles}, where policy evaluates it. */
  readonly guarded: boolean
  /** A command cannot open files that policy protects or hides. If not, policy asks about every command. */
  readonly confined: boolean
  /**
   * The changes of a command are one change set, committed at its end and reverted by `undo`. If not, policy asks about
   * every command.
   */
  readonly undo: boolean
}

/** Runs command lines over the files of a workspace. */
export interface Shell {
  readonly name: string
  readonly capabilities: ShellCapabilities
  /** Absolute path under which commands see the workspace, such as `/workspace`. Absent: unknown. */
  readonly root?: string
  /**
   * Whether commands can see the workspace under another path: then each line and its evaluation may name one. Absent: they see
   * it under `root` alone.
   */
  acceptsRoot?(path: string): boolean
  /** Evaluates a line by its structure, as this shell would parse it. */
  readonly judge: CommandJudge
  /**
   * Runs a line to its end. A non-zero exit code is an outcome, not an error.
   *
   * @throws ToolError `COMMAND_TIMEOUT`, `ABORTED`, `SHELL_UNAVAILABLE` with the reason, `LIMIT_EXCEEDED`
   */
  run(command: ShellCommand): Promise<ShellOutcome>
  /** Starts a line in the background. Without this method, a guarded shell runs the whole line beside others. */
  start?(command: BackgroundCommand): Promise<ShellProcess>
  /** Ends all running lines. */
  close(): Promise<void>
}

/**
 * Asks a person for the next text of an input, such as a line with its end. Returns `undefined` at the end of the input; a later
 * command may ask again.
 */
export type ReadInput = (options?: {
  /** The text is a secret, which must not be shown. */
  readonly isHidden?: boolean
  /** The output of the line shows the text. */
  readonly isEchoed?: boolean
}) => Promise<string | undefined>

/** One line to run. */
export interface ShellCommand {
  readonly line: string
  /** Initial directory. It exists. */
  readonly cwd: Path
  /** A path that {@link Shell.acceptsRoot} takes, under which the commands see the workspace. Default: the root of the shell. */
  readonly root?: string
  /** Environment variables, beside those that the shell sets. */
  readonly env: Readonly<Record<string, string>>
  /** Text for the standard input. */
  readonly stdin?: string
  /** Asks for the standard input while the line runs, if there is no `stdin`. Shells that cannot ask ignore it. */
  readonly readInput?: ReadInput | undefined
  /** Time limit in milliseconds. Waiting for an approval does not count. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /**
   * Called with output as it arrives, by shells that stream it. The outcome always contains the complete output. The text is what
   * the commands print: recognized secrets of files are marks in `bash()`, and unchanged in shells that are not `guarded`. A secret
   * may be split over calls, so do not show the text unchecked: `run_command` counts its lines, `check_command` redacts it.
   */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void
  /** The files of the line. Its changes are committed when the line has ended. */
  readonly files: CommandFiles
  /** The evaluation of the line, if policy has rules on commands. For shells that evaluate commands when they start. */
  readonly startedBy?: StartedBy | undefined
  /** Returns the repository of the workspace, including the changes of the line so far. */
  readonly git?: () => CommandGit | undefined
  /** Reports the changes that other calls are about to commit. For shells that work on a copy of the files. */
  readonly onCommit?: CommitSubscription
  /** Paths that the line may see. A shell whose accesses are not guarded must hide everything else from its commands. */
  readonly visibility?: Visibility
  /**
   * Records a file that the line can read unobserved, because its output and changes may contain data from it. `label`: that of
   * its content, if that is higher than the label of the path.
   */
  readonly noteReadable?: ((path: Path, label?: Label) => void) | undefined
  /** Identity of the workspace's files. A fork has a different one. */
  readonly tree?: object
  /** Milliseconds since 1970, from the clock of the workspace. */
  now(): number
}

/** The call that runs a line, and the commands of the line, which were evaluated before it began. */
export interface StartedBy {
  readonly policy: Policy
  readonly call: PolicyCall
  readonly lineCommands: readonly JudgedCommand[]
  /** Files whose commands the line runs. Absent: unknown, as if there were none. */
  readonly lineScripts?: readonly Pick<JudgedScript, 'isSourced'>[] | undefined
  /**
   * Records that a command starts, with the label of its output. Returns the refusal of a sink, if the line has received content
   * above its ceiling. Absent if no label is that of a command.
   *
   * @param texts every spelling of the command, and of those that it starts
   * @param isOfLine whether the line may contain the command, so that it was approved with the line
   * @param hasStarted the command is running, and has received content
   */
  readonly labelStart?:
    | ((texts: readonly string[], isOfLine: boolean, hasStarted: boolean) => ToolError | undefined)
    | undefined
}

/** Registers a listener; returns an unsubscribe function. */
export type CommitSubscription = (listener: (changes: readonly Change[]) => void) => () => void

/** One line to start in the background. */
export interface BackgroundCommand extends ShellCommand {
  /**
   * Commits the changes made through `files` so far, as a separate call that is evaluated, recorded and undone like any
   * other. Returns the files to use from now on.
   *
   * @throws ToolError if the changes are refused; none of them is kept
   */
  keep(): Promise<CommandFiles>
}

/** Read access to the repository of the workspace, limited to what policy shows. Methods throw only `ToolError`. */
export interface CommandGit {
  /** Returns the commit and the branch of HEAD, if it has them; `undefined` without a repository. */
  head(): Promise<{ readonly commit: string | undefined; readonly branch: string | undefined } | undefined>
  /** Returns the names of the local branches. `showsAll`: false if the command does not show them. Default: true. */
  branches(options?: Pick<CommandFilters, 'showsAll'>): Promise<readonly string[]>
  /** Resolves a name to a commit id of 40 hex digits. `shows`: true if the command shows the id. */
  resolve(name: string, options?: { readonly shows?: boolean }): Promise<string>
  /**
   * Returns the differences to HEAD in the index and in the files. By default, an untracked directory is one entry.
   * `showsAll`: as for `branches`; without it, a renamed file is a deleted and an added one.
   */
  status(options?: {
    readonly untracked?: 'files' | 'directories'
    readonly showsAll?: boolean
  }): Promise<readonly CommandStatus[]>
  /** Returns the differences by path, with secrets as marks. */
  diff(request: GitDiffRequest): Promise<readonly CommandDiff[]>
  /** Returns the newest commits first. */
  log(ref: string, maxCount: number): Promise<readonly LogEntry[]>
  /** Returns a commit with its changes. */
  show(ref: string): Promise<{ readonly entry: LogEntry; readonly diff: readonly CommandDiff[] }>
  /** Returns the commits of `head` that `base` lacks, each after its parents, without merges, with their exact changes. */
  patches(
    base: string,
    head: string,
  ): Promise<readonly { readonly entry: LogEntry; readonly diff: readonly CommandDiff[] }[]>
  /** Returns what is stashed, newest first. */
  stashes(): Promise<readonly StashEntry[]>
  /** Returns the settings of the sparse checkout. */
  sparse(): Promise<CommandSparse>
  /** Reads a file of a commit. */
  fileAt(ref: string, path: string): Promise<Uint8Array>
  /**
   * Returns write access. Changes of the repository belong to the changes of the line, and its later commands see them.
   *
   * @throws ToolError if policy denies it, or the workspace was opened without git
   */
  change(): Promise<CommandRepository>
}

/** The sparse checkout of the repository. */
export interface CommandSparse {
  readonly isEnabled: boolean
  /** `undefined` if there are patterns that are not those of git's cone mode. */
  readonly directories: readonly string[] | undefined
  /** Of the tracked files, how many are checked out. */
  readonly percentage: number
}

/** The two sides of a diff. */
export interface GitDiffRequest {
  /** A commit. Default: the index. */
  readonly from?: string | undefined
  /** `index` or a commit. Default: the files. */
  readonly to?: string | undefined
  /** Files and directories. Default: all. `.` is the root. */
  readonly paths?: readonly string[] | undefined
}

/** One entry of `git status`. */
export interface CommandStatus {
  /** Ends with a slash for a directory. */
  readonly path: string
  /** The path in HEAD of a file that is renamed in the index. */
  readonly from?: string
  /** Difference between HEAD and the index. */
  readonly index: GitState
  /** Difference between the index and the files. */
  readonly files: GitState
}

/** How a file differs from HEAD or from the index. */
export type GitState = 'same' | 'added' | 'modified' | 'deleted' | 'renamed' | 'untracked'

/** A diff of one file as text, with its counts. */
export interface CommandDiff {
  readonly path: string
  /** The path before a rename. */
  readonly oldPath?: string
  readonly text: string
  readonly insertions: number
  readonly deletions: number
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
}

/** What a clone, fetch or pull left out. */
export interface LeftOutRefs {
  /** Refs of the server whose names git or a workspace does not allow. */
  readonly leftOut: readonly string[]
}

/** Write access to the repository of the workspace. */
export interface CommandRepository
  extends Pick<
    Repository,
    | 'init'
    | 'commit'
    | 'branch'
    | 'deleteBranch'
    | 'moveTo'
    | 'checkout'
    | 'restore'
    | 'push'
    | 'remoteBranches'
    | 'upstream'
    | 'stash'
    | 'applyStash'
    | 'dropStash'
    | 'sparseDirectories'
    | 'setSparseDirectories'
  > {
  /** As `clone` of the library, and names the refs that were left out. */
  clone(...args: Parameters<Repository['clone']>): Promise<Awaited<ReturnType<Repository['clone']>> & LeftOutRefs>
  /** As `fetch` of the library. Returns the refs that were left out. */
  fetch(...args: Parameters<Repository['fetch']>): Promise<LeftOutRefs>
  /** As `pull` of the library, and names the refs that were left out. */
  pull(...args: Parameters<Repository['pull']>): Promise<PullResult & LeftOutRefs>
  /**
   * Adds files and directories to the index. `tracked`: only files that it contains. Unreadable files are left out. `outside`: new
   * files, and given paths, that are outside of the sparse checkout.
   */
  add(
    paths: readonly string[],
    options?: { readonly tracked?: boolean },
  ): Promise<{ readonly outside: readonly string[] }>
}

/** The result of a line. */
export interface ShellOutcome {
  readonly stdout: string
  readonly stderr: string
  /** Exit code of the last command, 0 to 255. */
  readonly exitCode: number
  /** Directory in which the line ended. It must not be derived from the output. */
  readonly cwd: Path
  /** Warnings for the caller about how the line was run. */
  readonly warnings?: readonly string[]
}

/** A line that runs in the background. */
export interface ShellProcess {
  /** Returns the output since the last call. */
  output(): { readonly stdout: string; readonly stderr: string }
  /** `undefined` while the line runs. */
  readonly exitCode: number | undefined
  /** Writes to the standard input. @throws ToolError if the line reads no input */
  write(text: string): Promise<void>
  /** Ends the line and all its descendants; settles when they are gone. */
  stop(): Promise<void>
  /** Settles when the line has ended. Never rejects. */
  readonly ended: Promise<void>
}

/** A refused access of a command. The result of the call lists it, even if the program ignores the error. */
export interface RefusedAccess {
  readonly permission: Access['permission']
  readonly path: string
  readonly code: ErrorCode
  readonly message: string
}

/**
 * The files of one command. Each access passes the path guard, the classification and the policy. Only the command itself
 * sees its changes, until the call commits them. Hidden files do not exist; protected files exist but cannot be opened.
 * Paths are relative to the root; `.` is the root. All methods throw only `ToolError`.
 */
export interface CommandFiles {
  /** Returns the entry at a path, or `undefined`. Follows links unless `noFollow` is set. */
  stat(path: string, options?: { readonly noFollow?: boolean }): Promise<CommandStat | undefined>
  /** Lists the visible entries of a directory. `showsAll`: as in {@link CommandFilters}. */
  list(path: string, options?: Pick<CommandFilters, 'showsAll'>): Promise<readonly DirectoryEntry[]>
  /** Reads a file, with recognized secrets replaced by marks. The caller must not modify the bytes. */
  read(path: string): Promise<Uint8Array>
  /** Returns the target of a link, as stored. */
  readLink(path: string): Promise<string>
  /** Returns the canonical path, with all links followed. */
  realPath(path: string): Promise<Path>
  /** Writes or creates a file, or adds to its end with `append`. The caller must not modify the bytes afterwards. */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<void>
  /** Copies the content of a file, which does not count as received by the command. */
  copy(from: string, to: string, options?: Pick<WriteOptions, 'mode'>): Promise<void>
  /** Records that the command shows paths which `list` or `walk` returned with `showsAll: false`. */
  noteShown(paths: Iterable<Path>): void
  /** Records that the command has received the size, the permission bits or the time of a file, by each path that names it. */
  noteMetadata(paths: Iterable<Path>): void
  /**
   * Creates a directory in an existing one. With `mayExist`, nothing happens if it is a directory already, even a hidden one.
   *
   * @throws ToolError `ALREADY_EXISTS`
   */
  makeDirectory(path: string, options?: { readonly mayExist?: boolean }): Promise<void>
  /** Removes a file, a link or an empty directory. */
  remove(path: string): Promise<void>
  /** Renames a file, a link or a directory. Replaces a file or an empty directory at the new name. */
  rename(from: string, to: string): Promise<void>
  /** Creates a symbolic link. `target` is relative to the directory of the link. */
  link(path: string, target: string): Promise<void>
  /** Sets the permission bits, such as 0o755. */
  setMode(path: string, mode: number): Promise<void>
  /** Returns the visible files and links below a directory, or the path itself for a file. */
  walk(path: string, filters: CommandFilters): Promise<readonly Path[]>
  /**
   * Calls `visit` with the files whose stored bytes `wants` accepts, until it returns false or `wants` returns `undefined`.
   * The fast way to search whole trees. Bytes are valid only during the call. Returns the files that are too large to be
   * read.
   */
  scan(
    paths: readonly Path[],
    wants: ((path: Path, bytes: Uint8Array) => boolean | undefined) | undefined,
    visit: (path: Path, bytes: Uint8Array) => boolean,
  ): Promise<readonly Path[]>
  /** Records an access that the shell itself refuses. Returns the error to throw. */
  refuse(permission: Permission, path: string, error: ToolError): ToolError
}

/** How a file is written. */
export interface WriteOptions {
  readonly append?: boolean
  readonly mode?: number
}

/** Metadata of an entry, with its canonical path. */
export interface CommandStat extends Stat {
  readonly path: Path
}

/** Entries that a walk includes. */
export interface CommandFilters {
  readonly includeHidden: boolean
  readonly includeIgnored: boolean
  /** False if the command shows only those paths that it reports by `noteShown`. Default: true. */
  readonly showsAll?: boolean
}

/** The shell of a run, for one call. */
export interface CommandSession {
  readonly shell: Shell
  /** Default initial directory of a command. */
  readonly cwd: Path
  /** Opens the files for one line. */
  open(signal: AbortSignal | undefined): CommandTransaction
  /** Starts a line in the background. */
  start(line: string, cwd: Path, timeoutMs: number): Promise<StartedProcess>
  /** Sets the initial directory of the next command, if the run keeps one. */
  setCwd(cwd: Path): void
}

/** A line in the background, and the label of its output. */
export interface StartedProcess extends ShellProcess {
  /** Returns the highest label that the output so far may have. Absent if the policy has no labels. */
  readonly label?: () => ContentLabel | undefined
  /** Returns the accesses and commands that were refused so far. Absent: none. */
  readonly refusals?: () => Promise<readonly RefusedAccess[]>
  /** Replaces the secrets that the files had when the line started by marks in what it has made. Absent: it saw marks. */
  hideSecrets?<T>(made: T): Promise<T>
}

/** What a command has printed. */
export interface CommandOutput {
  readonly stdout: string
  readonly stderr: string
}

/** The uncommitted effects of one line. */
export interface CommandTransaction {
  readonly files: CommandFiles
  /** Returns the repository, if the workspace has one. */
  readonly git: () => CommandGit | undefined
  /** See {@link ShellCommand.startedBy}. */
  readonly startedBy: StartedBy | undefined
  readonly onCommit: CommitSubscription
  readonly visibility: Visibility
  /** See {@link ShellCommand.noteReadable}. @throws ToolError if the path may not be read */
  readonly noteReadable?: ((path: Path, label?: Label) => void) | undefined
  readonly tree: object
  /** Aborts with the caller's signal, and when an access needs an approval. */
  readonly signal: AbortSignal
  /** Returns all refused accesses, each once. Pieces of secrets in the names that a program chose are marks. */
  refusals(): Promise<readonly RefusedAccess[]>
  /** All files whose content was read. */
  readonly reads: ReadonlySet<Path>
  /** The files that the answers of git left out, because a workspace cannot hold their names. */
  readonly leftOut: ReadonlySet<string>
  /** The labels of what the line has received and written, if the policy has labels. */
  readonly flow?: ContentFlow | undefined
  /** Returns true if an access needed an approval and got it: run the line again. @throws ToolError if denied */
  resolvePendingApproval(): Promise<boolean>
  /** Returns the changes of the line as one set, with the accesses that made them. */
  changes(): Promise<{ readonly changes: readonly Change[]; readonly accesses: readonly GuardedAccess[] }>
  /**
   * Files that the line has read, with their stored content and the content that the line received: the first 50, with at most
   * 64 MiB.
   */
  readonly readContents: ReadonlyMap<Path, { readonly stored: Uint8Array; readonly shown: Uint8Array }>
  /** Finds the secrets of the files, before a line starts in a shell that is not `guarded`. @throws ToolError */
  findSecrets(): Promise<void>
  /** Replaces secrets of the files by marks in the texts that a line has made in a shell that is not `guarded`. */
  hideSecrets<T>(made: T): Promise<T>
}

/** Input for the evaluation of a line. */
export interface JudgeOptions {
  /** Initial directory of the line. */
  readonly cwd: Path
  /** As in {@link ShellCommand.root}. */
  readonly root?: string
  readonly policy: Policy
  readonly call: PolicyCall
}

/** The evaluation of a line, before anything runs. */
export interface JudgedLine {
  /** The analysis: every command of the line, and the reasons why it is not allowed. */
  readonly line: CommandVerdict
  /** The analysis combined with the policy's verdict on each command. */
  readonly verdict: Verdict
  /** Files that redirections open. */
  readonly opens: readonly Access[]
  /** Files whose commands the line runs, for shells that do not evaluate commands when they start. */
  readonly scripts?: readonly JudgedScript[]
}

/** A file whose commands a line runs. */
export interface JudgedScript {
  /** Relative to the root of the workspace. */
  readonly path: LogicalPath
  /** The same for the same evaluation of the same file, which is done once. */
  readonly id?: string
  /** The shell of the line runs it. */
  readonly isSourced?: boolean
  /** Directories that must exist and be no links, because the line leaves them by `..` on the way to the file. */
  readonly left?: readonly LogicalPath[]
  /**
   * Evaluates the text of the file by the rules of the policy on commands, and returns the files that it runs in turn.
   * `undefined` for a text that is no script.
   */
  judge(text: string): ScriptEvaluation | undefined
}

/** The evaluation of the text of a file. */
export interface ScriptEvaluation {
  readonly verdict: Verdict
  /** Files whose commands it runs in turn. */
  readonly scripts: readonly JudgedScript[]
  /** Every spelling of its commands, for the labels of the policy. */
  readonly commands: readonly string[]
}

/** Evaluates a line. Pure. */
export type CommandJudge = (line: string, options: JudgeOptions) => JudgedLine
