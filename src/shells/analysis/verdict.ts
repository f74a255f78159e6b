import type { LogicalPath } from '../../paths/logical-path.ts'
import type { Decision } from '../../policy/types.ts'

/** A part of the line, as UTF-16 offsets. The end is exclusive. */
export type TextRange = readonly [start: number, end: number]

/** Code of a {@link DenialReason}. Codes are stable. */
export type ReasonCode =
  | 'EMPTY_LINE'
  | 'LINE_TOO_LONG'
  | 'TOO_COMPLEX'
  | 'ODD_CHARACTER'
  | 'SYNTAX_ERROR'
  | 'COMMAND_NOT_LITERAL'
  | 'ODD_COMMAND_NAME'
  | 'ARGUMENT_NOT_LITERAL'
  | 'TARGET_NOT_LITERAL'
  | 'OUTSIDE_WORKSPACE'
  | 'CWD_UNKNOWN'
  | 'HIDDEN_COMMAND'
  | 'INLINE_CODE'
  | 'VARIABLE_DENIED'
  | 'ARITHMETIC_NOT_KNOWN'
  | 'FORK_BOMB'
  | 'DOWNLOAD_TO_INTERPRETER'
  | 'WRITTEN_THEN_RUN'
  | 'BUILT_IN_DENIED'
  | 'POLICY_DENIED'
  | 'NOT_ALLOWED'
  | 'OPERATOR_DENIED'
  | 'RULE'

/** One reason why a line is not allowed. */
export interface DenialReason {
  readonly code: ReasonCode
  readonly action: 'ask' | 'deny'
  readonly message: string
  readonly at: TextRange
}

/** One command that the line would start, at any depth. */
export interface JudgedCommand {
  /** The name without quotes: `git`, `./run.sh`, `/usr/bin/env`. */
  readonly name: string
  /** Words without quotes; `null` for a word that is only known at run time. */
  readonly args: readonly (string | null)[]
  /** Name and arguments with single spaces, for the globs of a policy. Words that are not literal are as written. */
  readonly text: string
  /** Other spellings of the command, which a policy can deny, too. */
  readonly otherTexts: readonly string[]
  /** Initial directory; left out if it is only known at run time. */
  readonly cwd?: LogicalPath
  /** The commands that start it, outermost first: `['env', 'sh']`. */
  readonly via: readonly string[]
  readonly at: TextRange
}

/** A file that a redirection would open. Policy must evaluate it like any other access. */
export interface CommandAccess {
  readonly path: LogicalPath
  readonly mode: 'read' | 'write'
  readonly at: TextRange
}

/** The analysis of one line, as plain data. */
export interface CommandVerdict {
  readonly decision: Decision
  readonly commands: readonly JudgedCommand[]
  readonly accesses: readonly CommandAccess[]
  /** Empty if the line is allowed. Reasons that deny come first. */
  readonly reasons: readonly DenialReason[]
}
