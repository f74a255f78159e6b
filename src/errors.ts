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
  READ_ONLY: 'The workspace is read-only; do not retry.',
  PLAN_MODE: 'Submit a plan and wait for its approval before changing anything.',
  TAINT_DENIED: 'Content read earlier in this run must not be sent there; do not retry.',
  COMMAND_DENIED: 'The command is not allowed; do not retry, use another way.',
  APPROVAL_REQUIRED: 'The approval is pending; wait for it.',
  APPROVAL_DENIED: 'The approval was refused; do not ask again, change the task.',
  FILE_TOO_LARGE: 'Narrow the range, or work on a smaller part.',
  LIMIT_EXCEEDED: 'Narrow the request.',
  RATE_LIMITED: 'Slow down and call again later.',
  WRITE_CONFLICT: 'Read the file again and repeat the change on its current version.',
  EDIT_NO_MATCH: 'Copy oldText exactly from the file, with its white space.',
  EDIT_AMBIGUOUS: 'Add surrounding lines to oldText until it occurs once, or set replaceAll.',
  INVALID_PATCH: 'Correct the patch; nothing was applied.',
  PATCH_CONFLICT: 'Read the file again and make the hunk match its lines; nothing was applied.',
  PATCH_BUDGET_EXCEEDED: 'Split the patch into smaller ones.',
  UNSUPPORTED_BINARY: 'The file is not text; file_info describes it. In a shell, xxd, file or hexdump show its bytes.',
  UNSUPPORTED_ENCODING: 'The encoding of the file cannot be preserved exactly; use another tool.',
  INVALID_PATTERN: 'Correct the pattern.',
  SEARCH_TIMEOUT: 'Narrow the search: a smaller path, a glob, or a more specific query.',
  COMMAND_TIMEOUT: 'Use a shorter command or a longer timeoutMs.',
  SHELL_UNAVAILABLE: 'No shell can run this here.',
  ABORTED: 'The call was cancelled; nothing was changed.',
  NO_SPACE: 'The storage is full; the old content is intact.',
  BACKEND_ERROR: 'The storage failed; the old content is intact. Try again, or report this to the user.',
  AUDIT_FAILED: 'The audit record could not be written, so nothing was changed. Report this to the user.',
  HOOK_FAILED: 'A hook failed. Report this to the user.',
} as const

/** The stable, machine-readable code of a refusal or failure. */
export type ErrorCode = keyof typeof errorHints

/** Plain data beside the code of a refusal. Never contains a physical path or content of a protected file. */
export interface ErrorDetails {
  readonly hint?: string
  /** The logical path of the refused access. */
  readonly path?: string
  readonly [key: string]: unknown
}

/** The error that tools, guards and backends throw. The pipeline turns it into a {@link Failure}. */
export class ToolError extends Error {
  override readonly name = 'ToolError'
  readonly code: ErrorCode
  readonly details: ErrorDetails

  /** @param options `cause`: the original error, for the embedding program; see {@link Failure.cause} */
  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.code = code
    this.details = details
  }
}

/** The result of a refused or failed call. Nothing was changed. */
export interface Failure {
  readonly ok: false
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  readonly path?: string
  /**
   * The exception behind an unexpected failure, such as a bug of an own tool. Not enumerable, so that no copy or JSON of the
   * result contains it: its text can hold physical paths.
   */
  readonly cause?: unknown
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
    hint: error.details.hint ?? errorHints[error.code],
  }
  return withCause(failure, error.cause)
}

/** Sets the {@link Failure.cause} of a failure. */
export function withCause(failure: Failure, cause: unknown): Failure {
  if (cause === undefined) return failure
  return Object.defineProperty(failure, 'cause', { value: cause, enumerable: false, configurable: true })
}
