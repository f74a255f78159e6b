/**
 * Wardspace: a workspace that an AI agent can be trusted with. This entry runs wherever JavaScript does; what needs a
 * platform or another package has a subpath of its own.
 */
export { type Access, type ContentProtection, type GuardedAccess, type Permission, permissions } from './access.ts'
export type { Dialect, SpokenResult, SpokenTool } from './dialect.ts'
export { type ErrorCode, type ErrorDetails, errorHints, type Failure, ToolError } from './errors.ts'
export type { WorkspaceEvent, WorkspaceListener } from './events.ts'
export {
  type AuditCheck,
  type AuditEntry,
  type AuditRecord,
  type AuditSink,
  type ChainHead,
  HIDDEN_VERSION,
  shaMap,
  verifyAudit,
} from './evidence/audit.ts'
export type { Checkpoint, JournalChange, JournalEntry, WorkspaceHistory } from './evidence/journal.ts'
export { type ReportedRecord, type RunReport, reportRuns, type WrittenFile } from './evidence/report.ts'
export { reportMarkdown } from './evidence/report-text.ts'
export { callbackSink, type MemorySink, memorySink } from './evidence/sinks.ts'
export { type SpanLike, spanSink, type TracerLike } from './evidence/span-sink.ts'
export type { VerifyOptions } from './evidence/verify-audit.ts'
export type { Classification, Kind, Protection } from './files/classify.ts'
export type { Document } from './files/document.ts'
export type { Mark, Redaction } from './files/secrets.ts'
export type { Encoding, LineEnd, TextFormat } from './files/text.ts'
export type { Section } from './git/section.ts'
export type { DiffRequest, WorkspaceDiff } from './git/workspace-diff.ts'
export type { HookAnswer, HookCall, HookResult, Hooks, PostToolResponse, PreHookAnswer, PreToolCall } from './hooks.ts'
export { defaultLimits, type Limits } from './limits.ts'
export type { UnifiedDiff } from './patch/unified-diff.ts'
export { type LogicalPath, type Path, parsePath } from './paths/logical-path.ts'
export type { CallOptions, Progress, Success } from './pipeline.ts'
export type { ApprovalAnswer, ApprovalRequest, ApproveHandler, HandlerAnswer } from './policy/approval.ts'
export { type Label, type LabelPolicy, type LabelSink, type LabelSource, labelNames } from './policy/labels.ts'
export type { MemoryPolicy } from './policy/memory.ts'
export type { NetworkPolicy } from './policy/network.ts'
export type { ParkedCall, ParkedCalls, ParkedEffect } from './policy/parked.ts'
export type { Plan } from './policy/plan.ts'
export {
  type CallPolicy,
  type CommandPolicy,
  type Decision,
  type Override,
  type Policy,
  type PolicyCall,
  type PolicyData,
  type PolicyInput,
  type PolicyLimits,
  type PresetName,
  policySchema,
  presetNames,
  type Rule,
  type Verdict,
  type VerdictRule,
} from './policy/policy.ts'
export { type Risk, type RiskFlag, riskMeanings } from './policy/risks.ts'
export type { Taint, TaintOrigin } from './policy/taint.ts'
export type { ToolSet } from './policy/tool-sets.ts'
export type { Recorded, RecordedAnswer, RecordedRun, RecordedStep, RecordedWorkspace, RecordLine } from './recording.ts'
export { parseRecording, type Replay, type ReplayOptions, replay } from './replay.ts'
export type { Task } from './run.ts'
export type { Range } from './shells/command-line/verdict.ts'
export type {
  CommandAccess,
  CommandVerdict,
  JudgedCommand,
  Reason,
  ReasonCode,
} from './shells/command-line.ts'
export type { Processes, RunningCommand } from './shells/processes.ts'
export type {
  BackgroundCommand,
  CommandDesk,
  CommandDiff,
  CommandFiles,
  CommandFilters,
  CommandGit,
  CommandJudge,
  CommandRepository,
  CommandStat,
  CommandStatus,
  CommandTransaction,
  GitDiffRequest,
  GitState,
  JudgedLine,
  JudgeOptions,
  OnCommit,
  Refusal,
  Shell,
  ShellCapabilities,
  ShellCommand,
  ShellOutcome,
  ShellProcess,
} from './shells/shell.ts'
export {
  type AnsweredFields,
  type Draft,
  defineTool,
  type MemoryContext,
  type PlanState,
  type Shown,
  type ShownBefore,
  type ShownLines,
  type Tool,
  type ToolContext,
} from './tool.ts'
export type { BuiltinTool, ToolInput, ToolName, ToolOf, ToolOutput } from './tools/index.ts'
export type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  Descent,
  DirectoryEntry,
  DirectoryNode,
  EntryType,
  Expectation,
  FileNode,
  FileRead,
  Glance,
  LinkNode,
  Receipt,
  Stat,
  State,
  TreeNode,
  Version,
} from './vfs/backend.ts'
export type { Sight, View, Visit, WalkKind, Wants } from './vfs/guarded.ts'
export { mounts } from './vfs/mounts.ts'
export { readOnly } from './vfs/read-only.ts'
export type { WalkEntry, WalkFilters } from './vfs/walk.ts'
export {
  createWorkspace,
  type Explanation,
  type RunOptions,
  type SpokenRun,
  type SpokenWorkspace,
  type SpokenWorkspaceOptions,
  type ToolDescription,
  type ToolResult,
  type UndoOptions,
  type Workspace,
  type WorkspaceOptions,
  type WorkspaceRun,
} from './workspace.ts'
export type { WorkspaceFiles } from './workspace-files.ts'
