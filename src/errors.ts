/**
 * The stable, machine-readable codes of refusals and failures. The hint of a code tells an agent what to do next. A hint in
 * the details of a {@link ToolError} replaces it.
 */
export const errorHints = {
  INVALID_INPUT: 'Correct the named field and call again.',
  UNKNOWN_TOOL: 'Use one of the listed tools.',
  PATH_REJECTED:
    'Use a relative path with forward slashes that stays inside the workspace; the same path will not work.',
  NOT_FOUND: 'List the directory to see what exists.',
  ALREADY_EXISTS: 'Choose another path, or read the existing one first.',
  IS_DIRECTORY: 'Name a file; use list_directory for a directory.',
  NOT_A_DIRECTORY: 'Name a directory; a part of this path is a file.',
  DIRECTORY_NOT_EMPTY: 'Delete or move its contents first.',
  POLICY_DENIED: 'Policy does not allow this; do not retry, change the task.',
  POLICY_DENIED_SECRET: 'The file is protected as a secret; do not retry, work without its content.',
  READ_ONLY: 'This is read-only; do not retry, change something else.',
  PLAN_MODE: 'Submit a plan and wait for its approval before changing anything.',
  TAINT_DENIED: 'Content read earlier in this run must not be sent there; do not retry.',
  COMMAND_DENIED: 'The command is not allowed; do not retry, use another way.',
  APPROVAL_REQUIRED: 'The approval is pending; wait for it.',
  APPROVAL_DENIED: 'The approval was refused; do not ask again, change the task.',
  FILE_TOO_LARGE: 'Read it in ranges; it is too large to be read or changed as a whole.',
  LIMIT_EXCEEDED: 'Narrow the request, or split it into smaller ones.',
  RATE_LIMITED: 'Slow down and call again later.',
  WRITE_CONFLICT: 'Read the file again and repeat the change on its current version.',
  EDIT_NO_MATCH: 'Copy oldText exactly from the file, with its white space.',
  EDIT_AMBIGUOUS: 'Add surrounding lines to oldText until it occurs once, or set replaceAll.',
  INVALID_PATCH: 'Correct the patch; nothing was applied.',
  PATCH_CONFLICT: 'Read the file again and make the hunk match its lines; nothing was applied.',
  PATCH_BUDGET_EXCEEDED: 'Split the patch into smaller ones.',
  UNSUPPORTED_BINARY: 'The file is not text; file_info describes it. In a shell, xxd, file or hexdump show its bytes.',
  UNSUPPORTED_ENCODING:
    'The text cannot be read and written back exactly; file_info describes the file, and write_file with the sha256 from there replaces all of it. In a shell, xxd shows its bytes.',
  INVALID_PATTERN: 'Correct the pattern.',
  SEARCH_TIMEOUT: 'Narrow the search: a smaller path, a glob, or a more specific query.',
  COMMAND_TIMEOUT: 'Use a shorter command or a longer timeoutMs.',
  SHELL_UNAVAILABLE: 'No shell can run this here.',
  ABORTED: 'The call was cancelled; nothing was changed.',
  NO_SPACE: 'The storage is full; the old content is intact.',
  BACKEND_ERROR: 'The storage failed; the old content is intact. Try again, or report this to the user.',
  AUDIT_FAILED: 'Report this to the user: nothing can be changed until the audit can be written again.',
  HOOK_FAILED: 'A hook failed. Report this to the user.',
} as const

/** The stable, machine-readable code of a refusal or failure. */
export type ErrorCode = keyof typeof errorHints

/** Codes of calls that the guard, the policy, the mode or a label refused. */
const forbidden: ReadonlySet<string> = new Set<ErrorCode>([
  ...(['PATH_REJECTED', 'POLICY_DENIED', 'POLICY_DENIED_SECRET', 'READ_ONLY', 'PLAN_MODE', 'TAINT_DENIED'] as const),
  'COMMAND_DENIED',
])

/** Whether a call was an attempt at what the guard, the policy, the mode or a label forbids. */
export function isForbidden({ code }: { readonly code?: string | undefined }): boolean {
  return code !== undefined && forbidden.has(code)
}

/**
 * Whether a call was refused: by the guard, the policy, the mode, a label or the person. Any other failure, such as a missing
 * file or a limit that is reached, is not a refusal.
 */
export function isRefusal(failure: { readonly code?: string | undefined }): boolean {
  return failure.code === 'APPROVAL_DENIED' || isForbidden(failure)
}

/** A line of a file or of a patch. */
export interface NumberedText {
  readonly line: number
  readonly text: string
}

/**
 * Plain data beside the code of a refusal. Never contains a physical path or content of a protected file. To add a detail,
 * add a field.
 */
export interface ErrorDetails {
  readonly hint?: string
  /** The logical path of the refused access. */
  readonly path?: string
  /** `INVALID_INPUT`: the wrong field. `issues` has all wrong fields. */
  readonly field?: string | undefined
  readonly issues?: readonly { readonly field: string; readonly why: string }[]
  /** `NOT_FOUND`: the nearest existing paths. */
  readonly suggestions?: readonly string[]
  /** `WRITE_CONFLICT`: the current version of the file at `path`, or `null` when it does not exist. */
  readonly currentSha256?: string | null
  /** `WRITE_CONFLICT` of a patch for another commit: the current commit. */
  readonly currentBaseCommit?: string | null
  /** `WRITE_CONFLICT` over several files: the changed ones. */
  readonly paths?: readonly string[]
  /**
   * `WRITE_CONFLICT` of a merge: the files that could not be merged. `ours` is the file below, where the changes go, `theirs` the
   * one of the fork or overlay; `null` is an absent file, and a content that is not text or over 1 MiB is missing.
   *
   * Kinds: `content`, both sides changed the same lines; `added`, both created the file; `deleted`, one side deleted what the
   * other changed; `binary`, both changed a file that is not text; `mode`, both changed its permission bits; `type`, a side is not
   * a file; `large`, both changed a file of over 1 MiB, whose base is not kept. `text` of the first two: the merged text with
   * git's conflict markers.
   */
  readonly conflicts?: readonly {
    readonly path: string
    readonly kind: 'content' | 'added' | 'deleted' | 'binary' | 'mode' | 'type' | 'large'
    readonly base?: string | null | undefined
    readonly ours?: string | null | undefined
    readonly theirs?: string | null | undefined
    readonly text?: string | undefined
  }[]
  /**
   * A push that did not happen. `from` is the commit that the branch has on the server, or `null` for no branch.
   *
   * Reasons: `fetchFirst`, the server has commits that the repository does not have; `nonFastForward`, the branch lacks commits
   * of the server; `stale`, the server is not where it was expected; `shallow`, the repository lacks the start of the history;
   * `missing`, the branch to push or to delete does not exist; `remote`, the server refused, with its text in `why` and what it printed in `text`.
   */
  readonly push?: {
    readonly url: string
    readonly ref: string
    readonly from: string | null
    readonly to: string | null
    readonly reason: 'fetchFirst' | 'nonFastForward' | 'stale' | 'shallow' | 'missing' | 'remote'
    readonly why?: string
    readonly text?: string
  }
  /** The exceeded limit: its name, or for one file its value in bytes. */
  readonly limit?: string | number
  /** The value of the limit; for an input that is over a limit, the value of the input. */
  readonly value?: number
  /** `PATCH_BUDGET_EXCEEDED`: the value of the limit. */
  readonly budget?: number
  /** `FILE_TOO_LARGE`: the size of the file. */
  readonly sizeBytes?: number
  /** `RATE_LIMITED`: the time after which a call is allowed again. */
  readonly retryAfterMs?: number
  /** `EDIT_NO_MATCH`: the passage that is most similar to `oldText`. */
  readonly nearest?: NumberedText | undefined
  /** `EDIT_AMBIGUOUS`: how often `oldText` occurs, and the lines of the first occurrences. */
  readonly occurrences?: number
  readonly lines?: readonly number[]
  /** Of several edits: the number of the failed one. */
  readonly edit?: number
  /** `PATCH_CONFLICT`: the number of the hunk, its first line in the patch, and the reason. */
  readonly hunk?: number
  readonly patchLine?: number
  readonly why?: string
  /** `PATCH_CONFLICT`: the lines that the hunk expects. `EDIT_AMBIGUOUS`: the expected number of occurrences. */
  readonly expected?: readonly NumberedText[] | number
  /** `PATCH_CONFLICT`: the lines of the file at that place. */
  readonly actual?: readonly NumberedText[]
  readonly totalLines?: number
  /** The line of the patch that cannot be read or applied. */
  readonly line?: number
  /** `INVALID_PATTERN`: the position in the pattern, from 1. */
  readonly position?: number
  /** `UNSUPPORTED_ENCODING`: the position of the byte, or of the UTF-16 unit of a text. */
  readonly offset?: number
  /** `SEARCH_TIMEOUT`: the searched files, of how many. */
  readonly filesSearched?: number
  readonly candidates?: number
  /** The approval that the call needs or that was refused. Pass it to `resume`. */
  readonly approvalId?: string
  /** The time at which the pending approval expired, in milliseconds since 1970. */
  readonly expiresAt?: number
  /** `TAINT_DENIED`: the label of the read content, its origin, and the sink with the highest label that it takes. */
  readonly label?: string
  readonly origin?: { readonly label: string; readonly callId: string; readonly tool: string; readonly path?: string }
  readonly sink?: string
  readonly ceiling?: string
  /** The scopes of notes that the caller may use. */
  readonly scopes?: readonly string[]
  /** The refused accesses of a failed command. */
  readonly refused?: readonly {
    readonly permission: string
    readonly path: string
    readonly code: ErrorCode
    readonly message: string
  }[]
  /** The own tool that failed, and its function. */
  readonly tool?: string
  readonly step?: string
}

/**
 * The error that tools, guards and backends throw. The pipeline turns it into a {@link Failure}.
 *
 * `Extra`: the details of an own tool beyond {@link ErrorDetails}, such as `new ToolError<{ seats: number }>(…)`.
 */
export class ToolError<Extra extends object = object> extends Error {
  override readonly name = 'ToolError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  /** @param options `cause`: the original error, for the embedding program; see {@link Failure.cause} */
  constructor(
    code: ErrorCode,
    message: string,
    details: ErrorDetails & NoInfer<Extra> = {} as ErrorDetails & Extra,
    options?: { readonly cause?: unknown },
  ) {
    super(message, options)
    this.code = code
    this.details = details
  }
}

/** The failure of a tool whose name the compiler knows: a mistyped detail does not compile. */
export type ToolFailure = Pick<FailureFields, keyof FailureFields>

/** The fields of a failed result: the code, the message and the hint beside the {@link ErrorDetails}. */
export interface FailureFields extends ErrorDetails {
  readonly ok: false
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  /**
   * The exception behind an unexpected failure, such as a bug of an own tool. Not enumerable, so that no copy or JSON of the
   * result contains it: its text can hold physical paths.
   */
  readonly cause?: unknown
}

/** The result of a refused or failed call. Nothing was changed. An own tool can add details. */
export interface Failure extends FailureFields {
  readonly [detail: string]: unknown
}

/** Returns the failure that the caller sees for an error. For any error but a `ToolError`, it omits the text of the error. */
export function toFailure(error: unknown): Failure {
  if (!(error instanceof ToolError)) {
    const failure: Failure = {
      ok: false,
      code: 'BACKEND_ERROR',
      message: 'The storage failed in an unexpected way',
      hint: errorHints.BACKEND_ERROR,
    }
    return withCause(failure, error)
  }
  const failure: Failure = {
    ...error.details,
    ok: false,
    code: error.code,
    message: error.message,
    // Plain JavaScript can throw a code that does not exist.
    hint: error.details.hint ?? errorHints[error.code] ?? errorHints.BACKEND_ERROR,
  }
  return withCause(failure, error.cause)
}

/** Returns a copy of an error with another hint. */
export function withHint({ code, message, details, cause }: ToolError, hint: string): ToolError {
  return new ToolError(code, message, { ...details, hint }, { cause })
}

/** Sets the {@link Failure.cause} of a failure. */
export function withCause(failure: Failure, cause: unknown): Failure {
  if (cause === undefined) return failure
  return Object.defineProperty(failure, 'cause', { value: cause, enumerable: false, configurable: true })
}
