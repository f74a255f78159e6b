import type { LogicalPath } from '../paths/logical-path.ts'
import type { Backend, Change } from '../storage/backend.ts'
import type { CommitHistory } from './commit-history.ts'

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
  /**
   * Does a push if it is allowed: calls `prepare`, then `send` of what it returns. Throws if it is refused. Without it, every push
   * is done.
   */
  push?(request: PushRequest): Promise<PushAnswer>
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

/** What a server is asked to do. */
export interface CredentialsRequest {
  /** The address of the repository. */
  readonly url: string
  readonly operation: 'fetch' | 'push'
}

/** A name and a password (or token) for HTTP Basic, or the headers that the server demands. */
export type Credentials =
  | { readonly username: string; readonly password: string }
  | { readonly headers: Readonly<Record<string, string>> }

/**
 * Returns the credentials for a repository, or `undefined` without any. Called when its server demands them, at most once per
 * operation. What it returns goes to that server, and never into a file, a record, a message or the output of a command.
 *
 * @example
 * const credentials = ({ url }) =>
 *   url.startsWith('https://git.example.org/') ? { username: 'token', password: process.env.GIT_TOKEN ?? '' } : undefined
 */
export type CredentialsSource = (
  request: CredentialsRequest,
) => Credentials | undefined | Promise<Credentials | undefined>

/** How to reach a server, for clone, fetch and push. */
export interface RemoteOptions {
  /** URL prefix of a proxy, for pages that access servers without cross-origin support. */
  readonly corsProxy?: string
  /** Headers for the server itself. A server that it redirects to does not get them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default: `credentials` of `git()`. */
  readonly credentials?: CredentialsSource
  /** Called with the progress of each phase; `loaded` and `total` are in units of the phase, such as objects. */
  readonly onProgress?: (progress: { readonly phase: string; readonly loaded: number; readonly total?: number }) => void
  readonly signal?: AbortSignal
  /** Number of commits of the history. Default: all. */
  readonly depth?: number
  /** Called with each ref of the server that is left out, because git or a workspace does not allow its name. */
  readonly onLeftOut?: (ref: string) => void
}

/** What {@link Repository.pull} did. */
export interface PullResult {
  /** The commits that the branch had before and has now, if it is not `upToDate`. */
  readonly from: string | undefined
  readonly to: string
  readonly status: 'updated' | 'upToDate'
  /** Paths that a workspace cannot hold. */
  readonly skipped: readonly string[]
}

/** What a push sends, and where. */
export interface PushOptions extends Pick<RemoteOptions, 'corsProxy' | 'headers' | 'credentials' | 'signal'> {
  /** A remote of the repository. Default: `origin`. */
  readonly remote?: string
  /** The address, if it is not that of the remote. No remote branch is recorded for another address. */
  readonly url?: string
  /** The branch or commit to push. Default: the current branch. */
  readonly ref?: string
  /** The branch on the server. Default: the name of `ref`. Required for a commit. */
  readonly remoteRef?: string
  /** Deletes `remoteRef` on the server. */
  readonly delete?: boolean
  /**
   * Replaces commits on the server that the pushed branch does not contain, if the branch on the server is where it is expected:
   * `lease` expects it where it was after the last clone, fetch or push; otherwise a commit id, or `null` for no branch. There
   * is no force without an expectation.
   */
  readonly force?: 'lease' | { readonly expect: string | null }
  /** Records the remote branch as the upstream of the local one. */
  readonly setUpstream?: boolean
}

/** A push that the server has done, or that had nothing to do. */
export interface PushResult {
  /** The address of the repository. */
  readonly url: string
  /** The branch on the server, as `refs/heads/NAME`. */
  readonly ref: string
  /** The commits that it had before and has now; `null` for no branch. */
  readonly from: string | null
  readonly to: string | null
  readonly status: 'created' | 'updated' | 'forced' | 'deleted' | 'upToDate'
  /** What the server printed, such as the output of its hooks. Up to 8,192 characters; control characters are removed. */
  readonly message: string
}

/** A push before it is allowed. */
export interface PushRequest {
  /** The address of the repository, without credentials. */
  readonly url: URL
  /** The branch on the server, as `refs/heads/NAME`. */
  readonly ref: string
  /** The commit that it will name. `null` if it is deleted. */
  readonly commit: string | null
  /** The name of the local branch, if a branch is pushed. */
  readonly branch: string | undefined
  readonly force: boolean
  /** Reads the history of the commits. */
  readonly history: CommitHistory
  /** Contacts the server and computes what would be sent. Throws if the server or the repository excludes the push. */
  prepare(): Promise<PreparedPush>
}

/** A push that waits for its permission. */
export interface PreparedPush {
  /** The commit that the branch on the server has. `null` for no branch. */
  readonly from: string | null
  /** Whether there is something to send. */
  readonly isNeeded: boolean
  /** Returns a text for the person who decides: remote, branch, commits and their changes as a diff, with secrets as marks. */
  describe(): Promise<string>
  /** Sends it. Throws if the server refuses. */
  send(): Promise<PushAnswer>
}

/** What a server answered to a push. */
export type PushAnswer = Pick<PushResult, 'from' | 'status' | 'message'>

/** Which commits {@link Repository.pullRequest} and {@link Repository.formatPatch} cover: those of `head` that `base` lacks. */
export interface PullRequestOptions {
  /** A branch, tag or commit, such as `main` or `origin/main`. */
  readonly base: string
  /** Default: HEAD. */
  readonly head?: string
}

/** The parts of a pull request. Secrets in texts are replaced by marks. */
export interface PullRequest {
  /** Of one commit, its subject; otherwise the name of the branch as a sentence. Empty without commits. */
  readonly title: string
  /** Of one commit, the rest of its message; otherwise a list of the subjects. */
  readonly body: string
  /** The changes since the two histories parted, as `git diff base...head` shows them. */
  readonly diff: string
  /** The commit where they parted; `undefined` if they have nothing in common. */
  readonly base: string | undefined
  /** The id of the last commit. */
  readonly head: string
  /** Each after its parents. */
  readonly commits: readonly LogEntry[]
  readonly files: readonly {
    readonly path: string
    /** The former path of a renamed file. */
    readonly oldPath?: string
    readonly status: 'added' | 'deleted' | 'modified' | 'renamed'
    readonly insertions: number
    readonly deletions: number
  }[]
  readonly insertions: number
  readonly deletions: number
  /** The number of changed files that may not be read, or whose names a workspace cannot hold. */
  readonly leftOut: number
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

/** What {@link Repository.stash} stores. */
export interface StashOptions {
  /** Default: `WIP on BRANCH: COMMIT SUBJECT`. */
  readonly message?: string
  /** Stores files that git does not know as well. Default: they stay. */
  readonly untracked?: boolean
}

/** One stash. */
export interface StashEntry {
  /** The commit that holds the changes; its first parent is the commit that they are based on. */
  readonly commit: string
  readonly message: string
}

/** The repository of a workspace. Failures are thrown as `ToolError`. */
export interface Repository {
  /** Creates an empty repository, if there is none. Default branch: `main`. */
  init(options?: { readonly defaultBranch?: string }): Promise<void>
  /**
   * Copies the current state of files and directories to the index. With `tracked`, only files that it already has. Files
   * that are ignored or not readable are left out; `outside` has the new files, and the given paths, that are outside of the
   * sparse checkout, and therefore not added.
   */
  add(
    paths: string | readonly string[],
    options?: { readonly tracked?: boolean },
  ): Promise<{ readonly staged: readonly string[]; readonly leftOut: number; readonly outside: readonly string[] }>
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
  /** Returns the branch on a remote that a branch follows. Default: that of the current branch. */
  upstream(branch?: string): Promise<{ readonly remote: string; readonly branch: string } | undefined>
  /** Points HEAD to a branch, which need not exist yet. Files and index stay unchanged. */
  moveTo(branch: string): Promise<void>
  /**
   * Changes the files to those of a branch, tag or commit. Staged changes stay if the file is equal in both commits. Changed
   * files are never overwritten, unless `force`. `sparse` sets the directories of the sparse checkout, as
   * {@link setSparseDirectories}. `skipped` lists paths that a workspace cannot hold, `kept` changed files outside of the
   * sparse checkout, which stay.
   */
  checkout(
    ref: string,
    options?: { readonly force?: boolean; readonly sparse?: readonly string[] },
  ): Promise<{ readonly commit: string; readonly skipped: readonly string[]; readonly kept: readonly string[] }>
  /** Returns the directories of the sparse checkout, sorted; `undefined` if everything is checked out. */
  sparseDirectories(): Promise<readonly string[] | undefined>
  /**
   * Checks out only these directories, and the files directly in the directories above them, as `git sparse-checkout set` does in
   * cone mode; with `null` everything. The other files are removed, unless they are changed: `kept` lists those. Untracked and
   * ignored files stay. A file outside counts as unchanged as long as it does not exist.
   */
  setSparseDirectories(directories: readonly string[] | null): Promise<{ readonly kept: readonly string[] }>
  /**
   * Restores files and directories from the index or, with `from`, index and files from a commit. Files that are not readable
   * are left out. Returns the paths that a workspace cannot hold.
   */
  restore(paths: readonly string[], options?: RestoreOptions): Promise<readonly string[]>
  /**
   * Stores the changes since the last commit and takes them back in files and index. Files that are not readable are left as they
   * are. Returns the commit of the stash, or `undefined` without changes.
   */
  stash(options?: StashOptions): Promise<string | undefined>
  /** Returns the stashes, newest first. */
  stashes(): Promise<readonly StashEntry[]>
  /**
   * Brings the changes of a stash into the files. Its position is that in `stashes()`; default: 0.
   *
   * @throws ToolError `WRITE_CONFLICT` if a file that it changes is no longer as it was when it was stashed;
   * `PATH_REJECTED`, before anything changes, if it changes what a workspace cannot hold
   */
  applyStash(position?: number): Promise<void>
  /** Removes a stash. Returns its commit. */
  dropStash(position?: number): Promise<string>
  /** Fetches into `refs/remotes/origin`. Returns the commit that the remote's branch names. */
  fetch(options?: RemoteOptions & { readonly url?: string; readonly ref?: string }): Promise<string | undefined>
  /** Returns the branches of `origin` as the last clone, fetch or push saw them, with their commits. */
  remoteBranches(): Promise<ReadonlyMap<string, string>>
  /**
   * Fetches the branch that the current branch follows, and moves the current branch and the files to its commit. Never merges.
   *
   * @throws ToolError `WRITE_CONFLICT` if the branch has commits that the remote lacks, or if changed files would be overwritten
   */
  pull(options?: RemoteOptions & { readonly url?: string; readonly ref?: string }): Promise<PullResult>
  /**
   * Sends a branch to a server. The policy names its host in `network.hosts`, and evaluates the push as `git:push`.
   *
   * @throws ToolError `WRITE_CONFLICT` with `push` if the server has commits that the branch lacks, or is not where it is
   * expected, and `BACKEND_ERROR` with `push` if the server refuses, such as one of its hooks
   */
  push(options?: PushOptions): Promise<PushResult>
  /** Returns the parts of a pull request from `head` into `base`. */
  pullRequest(options: PullRequestOptions): Promise<PullRequest>
  /**
   * Returns the commits of `head` that `base` lacks as mails, which `git am` takes and which give the same trees (with CRLF files:
   * `git am --keep-cr`). Merges and commits without changes are left out, as by `git format-patch`.
   *
   * @throws ToolError `POLICY_DENIED` for a changed file that may not be read, `POLICY_DENIED_SECRET` for one with a secret
   */
  formatPatch(options: PullRequestOptions): Promise<string>
  /** Runs init, fetch and checkout, with `sparse` of these directories only. The workspace must not have a repository. */
  clone(
    url: string,
    options?: RemoteOptions & { readonly ref?: string; readonly sparse?: readonly string[] },
  ): Promise<{ readonly commit: string; readonly skipped: readonly string[] }>
}
