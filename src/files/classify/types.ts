/** The kind of a file, decided by its name or else by its content. */
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

/** A built-in protection, as named in the `overrides` of a rule. `git` cannot be overridden. */
export type Protection = 'secret' | 'generated' | 'vendored' | 'lockfile' | 'binary' | 'mode' | 'git'

/** The kind of a file and the effect of the built-in protections. Shared and frozen. */
export interface Classification {
  readonly kind: FileKind
  /** Whether its content may be read as text. */
  readonly readable: boolean
  readonly writable: boolean
  /** Whether its content, size and hash are hidden. */
  readonly redacted: boolean
  /** A clause for messages, such as `it is a lockfile`. Contains nothing of the path or the content. */
  readonly reason: string
  readonly protection?: Protection
  /** The recommended alternative for an agent that is refused. */
  readonly hint?: string
}
