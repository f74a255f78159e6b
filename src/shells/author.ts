/**
 * Types and helpers for authors of shells: the `Shell` contract, the analysis of command lines, and the parts that the
 * built-in shells share.
 */

export type { Visibility } from '../guard/visibility.ts'
export type { ContentFlow, CopySource, FlowSources, KnownLabels } from '../policy/content-flow.ts'
export type { ContentLabel, FileLabels, Labels, SinkTarget } from '../policy/taint.ts'
export { type AnalyzeOptions, analyzeCommand, type Decide, type Unknowns } from './analysis/index.ts'
export type {
  CommandAccess,
  CommandVerdict,
  DenialReason,
  JudgedCommand,
  ReasonCode,
  TextRange,
} from './analysis/verdict.ts'
export { applyChanges, type CommandChange } from './shared/apply-changes.ts'
export type { Processes, RunningCommand } from './shared/background-processes.ts'
export type { HeldOutput } from './shared/held-output.ts'
export { createLineAnalyzer, type LineAnalyzerOptions } from './shared/line-judge.ts'
export { createLineProcess } from './shared/line-process.ts'
export { createOutputTail, type OutputTail } from './shared/output-tail.ts'
export { createRunningCommands, type RunningCommands } from './shared/running-commands.ts'
export type { OutputStream, ShownOutput } from './shared/shown-output.ts'
export type {
  BackgroundCommand,
  CommandDiff,
  CommandFiles,
  CommandFilters,
  CommandGit,
  CommandJudge,
  CommandOutput,
  CommandRepository,
  CommandSession,
  CommandSparse,
  CommandStat,
  CommandStatus,
  CommandTransaction,
  CommitSubscription,
  GitDiffRequest,
  GitState,
  JudgedLine,
  JudgedScript,
  JudgeOptions,
  LeftOutRefs,
  ReadInput,
  RefusedAccess,
  ScriptEvaluation,
  Shell,
  ShellCapabilities,
  ShellCommand,
  ShellOutcome,
  ShellProcess,
  StartedBy,
  StartedProcess,
  WriteOptions,
} from './types.ts'
