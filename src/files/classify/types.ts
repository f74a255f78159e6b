/** What a file is to a workspace: decided by its name, and, where that says nothing, by its content. */
export type FileKind =
  | 'TEXT_SOURCE'
  | 'TEXT_CONFIG'
  | 'TEXT_DOC'
  | 'LOCKFILE'
  | 'GENERATED'
  | 'VENDORED'
  | 'SECRET_LIKE'
  | 'BINARY'
  | 'DIRECTORY'
  | 'GIT_INTERNAL'
  | 'UNKNOWN'

/** The name that a rule's `overrides` must use to lift a built-in protection; `git` can never be lifted. */
export type Protection = 'secret' | 'generated' | 'vendored' | 'lockfile' | 'binary' | 'mode' | 'git'

/** What a file is, and what the built-in protections say about it. Shared and frozen. */
export interface Classification {
  readonly kind: FileKind
  /** Its content may be read as text. */
  readonly readable: boolean
  readonly writable: boolean
  /** Its content, size and hash are withheld. */
  readonly redacted: boolean
  /** A clause for messages: `it is …`, `it lies in …`. Holds nothing of the path or the content. */
  readonly reason: string
  readonly protection?: Protection
  /** The better way, for an agent that is refused. */
  readonly hint?: string
}
