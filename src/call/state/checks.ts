import type { EntryType } from '../../storage/backend.ts'

/**
 * A check that runs after a call has changed files. Its findings are added to the result of that call; they never change
 * what the call did. It is a function or a command line.
 */
export type Check = FunctionCheck | CommandCheck

/** The fields that every check has. */
export interface CheckFields {
  /** The name in results and audit records: 1 to 64 of the characters A-Z a-z 0-9 . _ - */
  readonly name: string
  /** Globs of the changed files for which the check runs. Letters match in either case. Default: all files. */
  readonly files?: string | readonly string[]
  /** Milliseconds after which the check is ended. Default: the limit `checkTimeoutMs`. */
  readonly timeoutMs?: number
}

/** A check by a function of the embedding program. */
export interface FunctionCheck extends CheckFields {
  /**
   * Returns what is wrong. A text is a finding without a place. An exception is reported as a check that failed; the
   * subscribers of the workspace get it as an `exception`.
   */
  check(context: CheckContext): readonly (Finding | string)[] | Promise<readonly (Finding | string)[]>
  readonly command?: undefined
}

/** A check by a command line in the shell of the workspace. Exit codes other than 0 are findings. */
export interface CommandCheck extends CheckFields {
  /**
   * The command line. `{files}` stands for the paths of the changed files that still exist, each quoted. Policy judges it
   * like a command of the agent, but nobody is asked for an approval. Its changes of files are dropped.
   */
  readonly command: string
  readonly check?: undefined
}

/** A changed file, by its canonical path. */
export interface ChangedFile {
  readonly path: string
  readonly change: 'created' | 'changed' | 'deleted'
}

/** What is wrong, and where. */
export interface Finding {
  /** Path of a file in the workspace. A finding about a file that is hidden from the agent is left out. */
  readonly path?: string
  /** From 1. */
  readonly line?: number
  /** From 1, in UTF-16 units. */
  readonly column?: number
  /** Default: `error`. */
  readonly severity?: 'error' | 'warning'
  /** A short name of the kind of problem, such as `TS2322`. */
  readonly code?: string
  readonly message: string
}

/** What the function of a check receives. */
export interface CheckContext {
  /** The files that the call has changed and that match `files` of the check, sorted by path. */
  readonly changed: readonly ChangedFile[]
  readonly files: CheckFiles
  /** Aborts when the call is cancelled, and when the time of the check has ended. */
  readonly signal: AbortSignal
  /** Milliseconds that the check has. For a function that computes without returning to the event loop, which no signal ends. */
  readonly timeoutMs: number
  /** Keeps what the check wants to find again after the next change. Each workspace and each fork has its own. */
  readonly state: Map<unknown, unknown>
}

/**
 * The files that the agent may read without an approval. All others do not exist here, and texts have marks in place of
 * secrets. The labels of what a check reads count for the run. Ends with the check.
 */
export interface CheckFiles {
  /**
   * Reads a text.
   *
   * @throws ToolError `NOT_FOUND`, `FILE_TOO_LARGE`, `UNSUPPORTED_BINARY` and others
   */
  readText(path: string): Promise<string>
  /** Returns an opaque text that differs when the content of a file does. `undefined` if there is no such file. */
  versionOf(path: string): Promise<string | undefined>
  /** Lists a directory, sorted by name. Includes hidden and ignored names. Empty if there is no such directory. */
  entries(path?: string): Promise<readonly { readonly name: string; readonly type: EntryType }[]>
}

/** What a check found, in the result of a call. */
export interface CheckReport {
  readonly name: string
  readonly findings: readonly Finding[]
  /** Number of findings that are left out, because the result would be too long. */
  readonly omitted?: number
  /**
   * Why findings are missing: the check did not end in time, was not run, failed, or returned findings in a wrong form. A clause
   * without a subject.
   */
  readonly problem?: string
}
