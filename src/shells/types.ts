import type { ErrorCode, ToolError } from '../errors.ts'
import type { LogEntry, Repository } from '../git/provider.ts'
import type { Visibility } from '../guard/visibility.ts'
import type { Path } from '../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../policy/access.ts'
import type { Permission } from '../policy/permissions.ts'
import type { Policy, PolicyCall, Verdict } from '../policy/policy.ts'
import type { Query } from '../search/query.ts'
import type { Change, DirectoryEntry, Stat } from '../storage/backend.ts'
import type { CommandVerdict } from './analysis/index.ts'

/** What a shell can do. A tool asks here and says so, instead of pretending. */
export interface ShellCapabilities {
  /** Commands are real processes of a system. */
  readonly processes: boolean
  /** Commands can reach a network. */
  readonly network: boolean
  /** Lines can run in the background. */
  readonly background: boolean
  /** The error output comes apart from the output; without it, `stdout` holds both in their order. */
  readonly stderr: boolean
  /** Every file access of a command goes through {@link CommandFiles}, so that policy judges each. */
  readonly guarded: boolean
  /** A command cannot open what the policy protects or hides, whatever it does. Without it, every command is asked about. */
  readonly confined: boolean
  /**
   * What a command changes is one change set, committed at its end, which `undo` takes back. Without it, every command
   * is asked about.
   */
  readonly undo: boolean
}

/** Runs command lines: one of several providers. */
export interface Shell {
  readonly name: string
  readonly capabilities: ShellCapabilities
  /** Judges a line by its structure, as this shell would read it. */
  readonly judge: CommandJudge
  /**
   * Runs a line to its end. A non-zero exit is an outcome.
   *
   * @throws ToolError `COMMAND_TIMEOUT`, `ABORTED`, `SHELL_UNAVAILABLE` with the reason, `LIMIT_EXCEEDED`
   */
  run(command: ShellCommand): Promise<ShellOutcome>
  /** Starts a line in the background. Without it, a guarded shell runs the line beside the others, until its end. */
  start?(command: BackgroundCommand): Promise<ShellProcess>
  /** Ends everything that still runs. */
  close(): Promise<void>
}

/** One line to run. */
export interface ShellCommand {
  readonly line: string
  /** A directory that exists. */
  readonly cwd: Path
  /** What the line finds in its environment beside what the shell sets. */
  readonly env: Readonly<Record<string, string>>
  /** Text for the standard input. */
  readonly stdin?: string
  /** Milliseconds that the line may run; waiting for an approval does not count. */
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Told of output as it comes, by a shell that sees it come; all of it is in the outcome as well. */
  readonly onOutput?: (stream: 'stdout' | 'stderr', text: string) => void
  /** All that the line may touch. What it has changed is carried out when the line has ended. */
  readonly files: CommandFiles
  /** The repository of the workspace, as the line's own changes show it. */
  readonly git?: () => CommandGit | undefined
  /** Tells of what other calls are about to commit, until what it gives is called: for a shell that works beside the files. */
  readonly onCommit?: CommitSubscription
  /** What may be read: a shell whose accesses nobody sees keeps its commands from everything else. */
  readonly visibility?: Visibility
  /** Notes a file that the line can read where nobody sees it: what it tells and writes may come from there. */
  readonly noteReadable?: (path: Path) => void
  /** Stands for the files of the workspace: a fork has another. */
  readonly tree?: object
  /** Milliseconds since 1970, from the workspace's clock. */
  now(): number
}

/** Gives the way to be told no more. */
export type CommitSubscription = (listener: (changes: readonly Change[]) => void) => () => void

/** One line that a shell of real processes starts in the background. */
export interface BackgroundCommand extends ShellCommand {
  /**
   * Carries out what was changed through `files` until now, as a call of its own: judged, recorded and undone like any
   * other. Gives the files to go on with.
   *
   * @throws ToolError where it was refused, and nothing of it was kept
   */
  keep(): Promise<CommandFiles>
}

/** The repository of the workspace as a command may look into it: only what policy shows. Throws only `ToolError`. */
export interface CommandGit {
  /** The commit and the branch that HEAD names, where there are any; `undefined` without a repository. */
  head(): Promise<{ readonly commit: string | undefined; readonly branch: string | undefined } | undefined>
  /** The names of the local branches. */
  branches(): Promise<readonly string[]>
  /** The commit that a name means: 40 hex digits. */
  resolve(name: string): Promise<string>
  /** What differs from HEAD, in the index and in the files; a directory of which git knows nothing as one, by default. */
  status(how?: { readonly untracked?: 'files' | 'directories' }): Promise<readonly CommandStatus[]>
  /** What differs: from a commit, or between two, or, without any, from the index; by path, secrets as marks. */
  diff(what: GitDiffRequest): Promise<readonly CommandDiff[]>
  /** The newest first. */
  log(ref: string, most: number): Promise<readonly LogEntry[]>
  /** A commit, with what it changed. */
  show(ref: string): Promise<{ readonly entry: LogEntry; readonly diff: readonly CommandDiff[] }>
  /** A file as a commit holds it. */
  fileAt(ref: string, path: string): Promise<Uint8Array>
  /**
   * What changes the repository: a part of what the line changes, and seen by what comes after it.
   *
   * @throws ToolError where policy denies it, or the workspace was opened without git
   */
  change(): Promise<CommandRepository>
}

/** Which part of a diff, and between what. */
export interface GitDiffRequest {
  readonly from?: string | undefined
  /** `index`, or a commit; left out, the files. */
  readonly to?: string | undefined
}

/** The state of the repository, as `git status` shows it. */
export interface CommandStatus {
  /** With a slash at its end, a directory. */
  readonly path: string
  /** From HEAD to the index, and from the index to the files. */
  readonly index: GitState
  readonly files: GitState
}

/** How a file stands to HEAD or to the index. */
export type GitState = 'same' | 'added' | 'modified' | 'deleted' | 'untracked'

/** A diff as text, and what it counts. */
export interface CommandDiff {
  readonly path: string
  readonly text: string
  readonly insertions: number
  readonly deletions: number
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
}

/** The repository of the workspace, as a command may change it. */
export interface CommandRepository
  extends Pick<
    Repository,
    'init' | 'commit' | 'branch' | 'deleteBranch' | 'moveTo' | 'checkout' | 'restore' | 'clone'
  > {
  /** Takes files and directories into the index; `tracked`: only those that it holds. What may not be read is left out. */
  add(paths: readonly string[], how?: { readonly tracked?: boolean }): Promise<void>
}

/** How a line ended. */
export interface ShellOutcome {
  readonly stdout: string
  readonly stderr: string
  /** Of the last command, 0 to 255. */
  readonly exitCode: number
  /** Where the line ended, told apart from its output. */
  readonly cwd: Path
  /** What whoever runs the line should know of how it was run. */
  readonly warnings?: readonly string[]
}

/** A line that runs in the background. */
export interface ShellProcess {
  /** Output since the last call, in the order of each stream. */
  output(): { readonly stdout: string; readonly stderr: string }
  /** Left out while it runs. */
  readonly exitCode: number | undefined
  /** @throws ToolError where it reads no input */
  write(text: string): Promise<void>
  /** Ends it and all its children; settles once they are gone. */
  stop(): Promise<void>
  /** Settles when it has ended, in whatever way. */
  readonly ended: Promise<void>
}

/** An access of a command that was refused. Programs may hide it; the result of the call does not. */
export interface RefusedAccess {
  readonly permission: Permission
  readonly path: string
  readonly code: ErrorCode
  readonly message: string
}

/**
 * Files as one command sees them: each access passes the guard, the classification and the policy; what the command
 * changes is seen by itself alone until the call commits it. What policy hides is not there; a protected file is there
 * and cannot be opened. Paths are as a caller writes them, relative to the root; `.` is the root.
 *
 * All methods throw only `ToolError`.
 */
export interface CommandFiles {
  /** What a path leads to, links followed unless `noFollow`; `undefined` where nothing shows. */
  stat(path: string, how?: { readonly noFollow?: boolean }): Promise<CommandStat | undefined>
  /** What shows in a directory. */
  list(path: string): Promise<readonly DirectoryEntry[]>
  /** Recognised secrets stand as marks. The bytes are the caller's to read, not to write. */
  read(path: string): Promise<Uint8Array>
  /** The target of a link, as stored. */
  readLink(path: string): Promise<string>
  /** The one true path, links followed. */
  realPath(path: string): Promise<Path>
  /** The bytes belong to the files from now on. `append` adds them to what is there. */
  write(path: string, bytes: Uint8Array, how?: { readonly append?: boolean; readonly mode?: number }): Promise<void>
  /** `ALREADY_EXISTS`; its parent must be there. */
  makeDirectory(path: string): Promise<void>
  /** A file, a link, or an empty directory. */
  remove(path: string): Promise<void>
  /** A file, a link, or a directory with everything in it; a file or an empty directory at the new name gives way. */
  rename(from: string, to: string): Promise<void>
  /** A symbolic link. `target` is relative to the link's directory. */
  link(path: string, target: string): Promise<void>
  /** Sets permission bits, as in 0o755. */
  setMode(path: string, mode: number): Promise<void>
  /** The files and links that a walk shows below a directory; a file gives itself. */
  walk(path: string, filters: CommandFilters): Promise<readonly Path[]>
  /** Visits the wanted files among those of a walk, until a visit gives false: the fast form for searching whole trees. */
  scan(
    paths: readonly Path[],
    query: Query | undefined,
    visit: (path: Path, bytes: Uint8Array) => boolean,
  ): Promise<void>
  /** Notes an access that a shell itself refuses, and gives the refusal to throw. */
  refuse(permission: Permission, path: string, error: ToolError): ToolError
}

/** What a look at a file tells a command. */
export interface CommandStat extends Stat {
  readonly path: Path
}

/** What a walk of a command leaves out. */
export interface CommandFilters {
  readonly includeHidden: boolean
  readonly includeIgnored: boolean
}

/** The shell of a run, as one call may use it. */
export interface CommandSession {
  readonly shell: Shell
  /** Where a command starts that does not say. */
  readonly cwd: Path
  /** Opens the files for one line. */
  open(signal: AbortSignal | undefined): CommandTransaction
  /** Starts a line in the background. */
  start(line: string, cwd: Path, timeoutMs: number): Promise<ShellProcess>
  /** Notes where the next command of this run starts, where that is kept. */
  setCwd(cwd: Path): void
}

/** What one line does to the files: seen by itself alone, and nothing else has happened yet. */
export interface CommandTransaction {
  readonly files: CommandFiles
  /** The repository, where the workspace has one. */
  readonly git: () => CommandGit | undefined
  readonly onCommit: CommitSubscription
  readonly visibility: Visibility
  /** Throws what refuses reading a path. */
  readonly noteReadable: (path: Path) => void
  readonly tree: object
  /** Aborts where the caller does, and where an access waits for an approval. */
  readonly signal: AbortSignal
  /** Everything that was refused, each once. */
  readonly refusals: readonly RefusedAccess[]
  /** Every file whose bytes were read. */
  readonly reads: ReadonlySet<Path>
  /** Whether an access waited for an approval: it was got, and the line must run again. Throws where it was not. */
  resolvePendingApproval(): Promise<boolean>
  /** What the line has changed, as one set, with the accesses that led to it. */
  changes(): Promise<{ readonly changes: readonly Change[]; readonly accesses: readonly GuardedAccess[] }>
  /** Files whose bytes the line was given, with what it was given. */
  readonly readContents: ReadonlyMap<Path, { readonly stored: Uint8Array; readonly shown: Uint8Array }>
}

/** What a judgement of a line may know. */
export interface JudgeOptions {
  /** Where the line starts. */
  readonly cwd: Path
  readonly policy: Policy
  readonly call: PolicyCall
}

/** What a line's structure says, before anything of it runs. */
export interface JudgedLine {
  /** The judgement itself: every command of the line, and why it is not allowed. */
  readonly line: CommandVerdict
  /** With what policy says of each command. */
  readonly verdict: Verdict
  /** Files that the line plainly opens. */
  readonly opens: readonly Access[]
}

/** Judges a line. Pure. */
export type CommandJudge = (line: string, options: JudgeOptions) => JudgedLine
