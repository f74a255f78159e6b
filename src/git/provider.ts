import type { LogicalPath } from '../paths/logical-path.ts'
import type { Backend, Change } from '../vfs/backend.ts'

/** Opens repositories: what `createWorkspace` takes as `git`, so that nobody loads git's code without asking for it. */
export interface GitProvider {
  open(host: GitHost): Repository
}

/** What git works on, and what it may do there beside its own files. */
export interface GitHost {
  readonly backend: Backend
  /** Whether a file may be taken into a commit. */
  mayRead(path: LogicalPath): boolean
  /** Changes files of the workspace, guarded like any other change; throws what refuses it. */
  change(changes: readonly Change[], what: string): Promise<void>
  /** Milliseconds since 1970. */
  now(): number
}

export interface Person {
  readonly name: string
  readonly email: string
}

export interface LogEntry {
  readonly commit: string
  readonly parents: readonly string[]
  readonly message: string
  readonly author: Person & { /** Milliseconds since 1970. */ readonly at: number }
}

export interface StatusEntry {
  readonly path: string
  readonly status: 'added' | 'deleted' | 'modified'
  /** Its present content is in the index. */
  readonly staged: boolean
}

export interface RemoteOptions {
  /** Prefix through which a page reaches servers that do not allow cross-origin requests. */
  readonly corsProxy?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly onProgress?: (progress: { readonly phase: string; readonly loaded: number; readonly total?: number }) => void
  readonly signal?: AbortSignal
  /** How many commits of the history; all of it if left out. */
  readonly depth?: number
}

/** The repository of a workspace. Throws `ToolError` for whatever cannot be done. */
export interface Repository {
  init(options?: { readonly defaultBranch?: string }): Promise<void>
  /** Takes the present state of files and directories into the index. What is ignored or may not be read is left out. */
  add(paths: string | readonly string[]): Promise<{ readonly staged: readonly string[]; readonly leftOut: number }>
  /** Commits what is in the index; gives the id. */
  commit(options: { readonly message: string; readonly author?: Person }): Promise<string>
  log(options?: { readonly ref?: string; readonly depth?: number }): Promise<readonly LogEntry[]>
  /** What differs from HEAD. */
  status(): Promise<readonly StatusEntry[]>
  branches(): Promise<readonly string[]>
  /** The branch that HEAD names; `undefined` where it names a commit. */
  currentBranch(): Promise<string | undefined>
  /** Makes a branch, at HEAD or at another commit. */
  branch(name: string, options?: { readonly at?: string }): Promise<void>
  /** Brings the files to a branch, tag or commit. Files that were changed are never overwritten unless `force`. */
  checkout(
    ref: string,
    options?: { readonly force?: boolean },
  ): Promise<{ readonly commit: string; readonly skipped: readonly string[] }>
  /** Fetches into `refs/remotes/origin`; gives the commit that the remote's branch names. */
  fetch(options?: RemoteOptions & { readonly url?: string; readonly ref?: string }): Promise<string | undefined>
  /** Init, fetch and checkout. The workspace must have no repository yet. */
  clone(
    url: string,
    options?: RemoteOptions & { readonly ref?: string },
  ): Promise<{ readonly commit: string; readonly skipped: readonly string[] }>
}
