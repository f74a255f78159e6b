import type { LogicalPath } from '../paths/logical-path.ts'
import type { Backend, Change } from '../storage/backend.ts'

/** Opens repositories: the option `git` of `createWorkspace`, so that git's code is only loaded if it is used. */
export interface GitProvider {
  /** Returns the repository in the root of the host's backend. */
  open(host: GitHost): Repository
}

/** The files that git works on, and its access to files outside `.git`. */
export interface GitHost {
  readonly backend: Backend
  /** Whether a file may become part of a commit, and be named. */
  mayRead(path: LogicalPath): boolean
  /** Changes files of the workspace, guarded like any other change. `label` names the change. Throws if it is refused. */
  change(changes: readonly Change[], label: string): Promise<void>
  /** Throws if an address is refused. Called for each redirect, too. Without it, every address is allowed. */
  requireHost?(url: URL): void
  /** Milliseconds since 1970. */
  now(): number
}

/** The author of a commit. */
export interface Person {
  readonly name: string
  readonly email: string
}

/** One commit of a log. Ids are 40 hex digits. */
export interface LogEntry {
  readonly commit: string
  readonly parents: readonly string[]
  readonly message: string
  readonly author: Person & { /** Milliseconds since 1970. */ readonly at: number }
}

/** A file that differs from HEAD. */
export interface StatusEntry {
  readonly path: string
  readonly status: 'added' | 'deleted' | 'modified'
  /** Whether its current content is in the index. */
  readonly staged: boolean
}

/** How to reach a server, for clone and fetch. */
export interface RemoteOptions {
  /** URL prefix of a proxy, for pages that access servers without cross-origin support. */
  readonly corsProxy?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Called with the progress of each phase; `loaded` and `total` are in units of the phase, such as objects. */
  readonly onProgress?: (progress: { readonly phase: string; readonly loaded: number; readonly total?: number }) => void
  readonly signal?: AbortSignal
  /** Number of commits of the history. Default: all. */
  readonly depth?: number
}

/** The message and author of a commit. */
export interface CommitRequest {
  /** Required, unless `amend`. Default: the message of the amended commit. */
  readonly message?: string
  readonly author?: Person
  /** Replaces the last commit. */
  readonly amend?: boolean
}

/** The source and extent of {@link Repository.restore}. `from` is a commit; default: the index. */
export interface RestoreOptions {
  readonly from?: string
  /** `index`: restores only the index; the files stay unchanged. */
  readonly only?: 'index'
  /** Keeps files that the source does not have. Default: they are deleted. */
  readonly overlay?: boolean
}

/** The repository of a workspace. Failures are thrown as `ToolError`. */
export interface Repository {
  /** Creates an empty repository, if there is none. Default branch: `main`. */
  init(options?: { readonly defaultBranch?: string }): Promise<void>
  /**
   * Copies the current state of files and directories to the index. With `tracked`, only files that it already has. Files
   * that are ignored or not readable are left out.
   */
  add(
    paths: string | readonly string[],
    options?: { readonly tracked?: boolean },
  ): Promise<{ readonly staged: readonly string[]; readonly leftOut: number }>
  /** Commits the index. Returns the id of the commit. */
  commit(options: CommitRequest): Promise<string>
  /** Returns the commits that lead to a ref (default: HEAD), newest first. `depth` limits their number. */
  log(options?: { readonly ref?: string; readonly depth?: number }): Promise<readonly LogEntry[]>
  /** Returns the readable files that differ from HEAD. */
  status(): Promise<readonly StatusEntry[]>
  /** Returns the names of the local branches. */
  branches(): Promise<readonly string[]>
  /** Returns the branch that HEAD names, or `undefined` when it names a commit. */
  currentBranch(): Promise<string | undefined>
  /** Creates a branch at HEAD or at another commit. */
  branch(name: string, options?: { readonly at?: string }): Promise<void>
  /** Deletes a branch, but not its commits. The current branch cannot be deleted. */
  deleteBranch(name: string): Promise<void>
  /** Points HEAD to a branch, which need not exist yet. Files and index stay unchanged. */
  moveTo(branch: string): Promise<void>
  /**
   * Changes the files to those of a branch, tag or commit. Staged changes stay if the file is equal in both commits. Changed
   * files are never overwritten, unless `force`. `skipped` lists paths that a workspace cannot hold.
   */
  checkout(
    ref: string,
    options?: { readonly force?: boolean },
  ): Promise<{ readonly commit: string; readonly skipped: readonly string[] }>
  /**
   * Restores files and directories from the index or, with `from`, index and files from a commit. Files that are not readable
   * are left out. Returns the paths that a workspace cannot hold.
   */
  restore(paths: readonly string[], options?: RestoreOptions): Promise<readonly string[]>
  /** Fetches into `refs/remotes/origin`. Returns the commit that the remote's branch names. */
  fetch(options?: RemoteOptions & { readonly url?: string; readonly ref?: string }): Promise<string | undefined>
  /** Runs init, fetch and checkout. The workspace must not have a repository. */
  clone(
    url: string,
    options?: RemoteOptions & { readonly ref?: string },
  ): Promise<{ readonly commit: string; readonly skipped: readonly string[] }>
}
