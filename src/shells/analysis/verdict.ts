import type { LogicalPath } from '../../paths/logical-path.ts'
import type { Decision } from '../../policy/policy.ts'

/** Where something stands in the line: UTF-16 offsets, the end left out. */
export type TextRange = readonly [start: number, end: number]

/** Why a line is not allowed; stable, for machines. */
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

/** One thing that speaks against a line. */
export interface DenialReason {
  readonly code: ReasonCode
  readonly action: 'ask' | 'deny'
  readonly message: string
  readonly at: TextRange
}

/** One command that the line would start, however deep it stands. */
export interface JudgedCommand {
  /** As written, quotes removed: `git`, `./run.sh`, `/usr/bin/env`. */
  readonly name: string
  /** Quotes removed; `null` where a word is only known when the line runs. */
  readonly args: readonly (string | null)[]
  /** Name and arguments with single spaces, words that are not known as written: what globs on commands are held against. */
  readonly text: string
  /** Shorter or plainer ways to write the same: what denies has to be held against them, too. */
  readonly otherTexts: readonly string[]
  /** Where it would start; left out where that depends on the run. */
  readonly cwd?: LogicalPath
  /** The commands through which it is started, outermost first: `['env', 'sh']`. */
  readonly via: readonly string[]
  readonly at: TextRange
}

/** A file that a redirection would open. Policy has to judge it like any other access. */
export interface CommandAccess {
  readonly path: LogicalPath
  readonly mode: 'read' | 'write'
  readonly at: TextRange
}

/** What the judge says of one line. Plain data. */
export interface CommandVerdict {
  readonly decision: Decision
  readonly commands: readonly JudgedCommand[]
  readonly accesses: readonly CommandAccess[]
  /** Empty where the line is allowed; what denies comes first. */
  readonly reasons: readonly DenialReason[]
}
