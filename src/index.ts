/**
 * Wardspace: a workspace that an AI agent can be trusted with. This entry runs wherever JavaScript does; what needs a
 * platform or another package has a subpath of its own.
 */

export {
  type AuditCheck,
  type AuditEntry,
  type AuditRecord,
  type AuditSink,
  type ChainHead,
  HIDDEN_VERSION,
  shaMap,
  verifyAudit,
} from './audit/audit-log.ts'
export { type ReportedRecord, type RunReport, reportRuns, type WrittenFile } from './audit/report.ts'
export { reportMarkdown } from './audit/report-text.ts'
export { callbackSink, type MemorySink, memorySink } from './audit/sinks.ts'
export { type SpanLike, spanSink, type TracerLike } from './audit/span-sink.ts'
export type { VerifyOptions } from './audit/verify.ts'
export type { CallOptions, Progress, Success } from './call/state/call.ts'
export type { WorkspaceEvent, WorkspaceListener } from './call/state/events.ts'
export type {
  HookAnswer,
  HookCall,
  HookResult,
  Hooks,
  PostToolResponse,
  PreHookAnswer,
  PreToolCall,
} from './call/state/hooks.ts'
export type { Task } from './call/state/run-state.ts'
export type { Dialect, DialectResult, DialectToolInfo } from './dialects/runtime/types.ts'
export { type ErrorCode, type ErrorDetails, errorHints, type Failure, ToolError } from './errors.ts'
export type { Classification, FileKind, Protection } from './files/classify/types.ts'
export type { Redaction, SecretMark } from './files/secrets/index.ts'
export type { TextDocument } from './files/text/document.ts'
export type { Encoding, LineEnd, TextFormat } from './files/text/encoding.ts'
export type { DiffSection } from './git/diff-section.ts'
export type { DiffRequest, WorkspaceDiff } from './git/workspace-diff.ts'
export type { GuardedFiles, ScanFilter, ScanVisitor } from './guard/guarded-files.ts'
export type { Visibility, WalkKind } from './guard/visibility.ts'
export type { Checkpoint, JournalChange, JournalEntry, WorkspaceHistory } from './history/journal.ts'
export { defaultLimits, type Limits } from './limits.ts'
export type { UnifiedDiff } from './patch/unified-diff.ts'
export { type LogicalPath, type Path, parsePath } from './paths/logical-path.ts'
export type {
  Access,
  ContentProtection,
  GuardedAccess,
} from './policy/access.ts'
export type { ApprovalAnswer, ApprovalRequest, ApproveHandler, HandlerAnswer } from './policy/approval.ts'
export { type Label, type LabelPolicy, type LabelSink, type LabelSource, labelNames } from './policy/labels.ts'
export type { MemoryPolicy } from './policy/memory-policy.ts'
export type { NetworkPolicy } from './policy/network-policy.ts'
export type { ParkedCall, ParkedCalls, ParkedEffect } from './policy/parked-calls.ts'
export type { Permission } from './policy/permissions.ts'
export { permissions } from './policy/permissions.ts'
export type { WorkPlan } from './policy/plan.ts'
export {
  type CallPolicy,
  type CommandPolicy,
  type Policy,
  type PolicyCall,
  type PolicyData,
  type PolicyInput,
  type PolicyLimits,
  type PolicyRule,
  type PresetName,
  policySchema,
  presetNames,
  type Verdict,
  type VerdictRule,
} from './policy/policy.ts'
export { type Risk, type RiskFlag, riskMeanings } from './policy/risk/index.ts'
export type { Taint, TaintOrigin } from './policy/taint.ts'
export type { Decision, Override } from './policy/types.ts'
export type {
  CommandAccess,
  CommandVerdict,
  DenialReason,
  JudgedCommand,
  ReasonCode,
} from './shells/analysis/index.ts'
export type { TextRange } from './shells/analysis/verdict.ts'
export type { Processes, RunningCommand } from './shells/shared/background-processes.ts'
export type {
  BackgroundCommand,
  CommandDiff,
  CommandFiles,
  CommandFilters,
  CommandGit,
  CommandJudge,
  CommandRepository,
  CommandSession,
  CommandStat,
  CommandStatus,
  CommandTransaction,
  CommitSubscription,
  GitDiffRequest,
  GitState,
  JudgedLine,
  JudgeOptions,
  RefusedAccess,
  Shell,
  ShellCapabilities,
  ShellCommand,
  ShellOutcome,
  ShellProcess,
} from './shells/types.ts'
export type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  DirectoryEntry,
  DirectoryNode,
  DirectoryStats,
  EntryState,
  EntryType,
  Expectation,
  FileNode,
  FileRead,
  LinkNode,
  Receipt,
  Stat,
  TreeNode,
  Version,
  WalkVisitor,
} from './storage/backend.ts'
export { mounts } from './storage/mounts.ts'
export { readOnly } from './storage/read-only.ts'
export type { WalkEntry, WalkFilters } from './storage/walk.ts'
export {
  type Draft,
  defineTool,
  type MemoryContext,
  type PlanState,
  type PreviousReads,
  type ResultFields,
  type ShownLines,
  type ShownVersion,
  type Tool,
  type ToolContext,
} from './tools/define-tool.ts'
export type { BuiltinTool, ToolInput, ToolName, ToolOf, ToolOutput } from './tools/index.ts'
export type { ToolSet } from './tools/tool-sets.ts'
export {
  createWorkspace,
  type DialectRun,
  type DialectWorkspace,
  type DialectWorkspaceOptions,
  type Explanation,
  type RunOptions,
  type ToolDescription,
  type ToolResult,
  type UndoOptions,
  type Workspace,
  type WorkspaceOptions,
  type WorkspaceRun,
} from './workspace/create-workspace.ts'
export type { WorkspaceFiles } from './workspace/files.ts'
export type {
  Recorded,
  RecordedAnswer,
  RecordedRun,
  RecordedStep,
  RecordedWorkspace,
  RecordLine,
} from './workspace/recorder.ts'
export { parseRecording, type Replay, type ReplayOptions, replay } from './workspace/replay.ts'
