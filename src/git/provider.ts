import type { LogicalPath } from '../paths/logical-path.ts'
import type { Backend, Change } from '../storage/backend.ts'

/** Opens repositories: what `createWorkspace` takes as `git`, so that nobody loads git's code without asking for it. */
export interface GitProvider {
  /** The repository in the root of what the host gives. */
  open(host: GitHost): Repository
}

/** What git works on, and what it may do there beside its own files. */
export interface GitHost {
  readonly backend: Backend
  /** Whether a file may be taken into a commit. */
  mayRead(path: LogicalPath): boolean
  /** Changes files of the workspace, guarded like any other change; throws what refuses it. */
  change(changes: readonly Change[], what: string): Promise<void>
  /** Throws what refuses an address; without it, every one may be reached. Asked again for each redirection. */
  requireHost?(url: URL): void
  /** Milliseconds since 1970. */
  now(): number
}

/** Who made a commit. */
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
  /** Its present content is in the index. */
  readonly staged: boolean
}

/** How a server is reached: for clone, fetch and push. */
export interface RemoteOptions {
  /** Prefix through which a page reaches servers that do not allow cross-origin requests. */
  readonly corsProxy?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Told of each phase; `loaded` and `total` count what the phase counts, as objects. */
  readonly onProgress?: (progress: { readonly phase: string; readonly loaded: number; readonly total?: number }) => void
  readonly signal?: AbortSignal
  /** How many commits of the history; all of it if left out. */
  readonly depth?: number
}

/** What a commit says, and in whose name. */
export interface CommitRequest {
  /** Left out, that of the commit which is amended. */
  readonly message?: string
  readonly author?: Person
  /** Puts the commit in the place of the last one. */
  readonly amend?: boolean
}

/** From which commit files are restored (default: the index), and how far. */
export interface RestoreOptions {
  readonly from?: string
  /** `index`: the files stay as they are. */
  readonly only?: 'index'
  /** What the commit does not have stays. Default: it is taken away. */
  readonly overlay?: boolean
}

/** The repository of a workspace. Throws `ToolError` for whatever cannot be done. */
export interface Repository {
  /** Makes an empty repository, where there is none. Default branch: `main`. */
  init(options?: { readonly defaultBranch?: string }): Promise<void>
  /**
   * Takes the present state of files and directories into the index; `tracked`: only of what it holds. What is ignored or may
   * not be read is left out.
   */
  add(
    paths: string | readonly string[],
    options?: { readonly tracked?: boolean },
  ): Promise<{ readonly staged: readonly string[]; readonly leftOut: number }>
  /** Commits what is in the index; gives the id. */
  commit(options: CommitRequest): Promise<string>
  /** The commits that lead to a ref (default: HEAD), the newest first. */
  log(options?: { readonly ref?: string; readonly depth?: number }): Promise<readonly LogEntry[]>
  /** What differs from HEAD. */
  status(): Promise<readonly StatusEntry[]>
  /** The names of the local branches. */
  branches(): Promise<readonly string[]>
  /** The branch that HEAD names; `undefined` where it names a commit. */
  currentBranch(): Promise<string | undefined>
  /** Makes a branch, at HEAD or at another commit. */
  branch(name: string, options?: { readonly at?: string }): Promise<void>
  /** Takes a branch away; what it named stays. Not the one that HEAD names. */
  deleteBranch(name: string): Promise<void>
  /** Names another branch in HEAD, there or not yet; files and index stay as they are. */
  moveTo(branch: string): Promise<void>
  /** Brings the files to a branch, tag or commit. What is in the index and is the same in both commits stays there. Files that were changed are never overwritten unless `force`. */
  checkout(
    ref: string,
    options?: { readonly force?: boolean },
  ): Promise<{ readonly commit: string; readonly skipped: readonly string[] }>
  /**
   * Brings single files and directories back to what is in the index, or, with `from`, index and files to a commit. What may
   * not be read is left out.
   */
  restore(paths: readonly string[], options?: RestoreOptions): Promise<readonly string[]>
  /** Fetches into `refs/remotes/origin`; gives the commit that the remote's branch names. */
  fetch(options?: RemoteOptions & { readonly url?: string; readonly ref?: string }): Promise<string | undefined>
  /** Init, fetch and checkout. The workspace must have no repository yet. */
  clone(
    url: string,
    options?: RemoteOptions & { readonly ref?: string },
  ): Promise<{ readonly commit: string; readonly skipped: readonly string[] }>
}
