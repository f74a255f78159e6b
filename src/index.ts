/**
 * Wardspace: a workspace that an AI agent can be trusted with. This entry runs wherever JavaScript does; what needs a
 * platform or another package has a subpath of its own.
 */
export type { Access, GuardedAccess, Permission } from './access.ts'
export type { Dialect, SpokenResult, SpokenTool } from './dialect.ts'
export { type ErrorCode, errorHints, type Failure, ToolError } from './errors.ts'
export type { WorkspaceEvent, WorkspaceListener } from './events.ts'
export { type AuditRecord, type AuditSink, verifyAudit } from './evidence/audit.ts'
export type { Checkpoint, JournalChange, JournalEntry, WorkspaceHistory } from './evidence/journal.ts'
export { type RunReport, reportRuns, type WrittenFile } from './evidence/report.ts'
export { reportMarkdown } from './evidence/report-text.ts'
export { callbackSink, memorySink } from './evidence/sinks.ts'
export { type SpanLike, spanSink, type TracerLike } from './evidence/span-sink.ts'
export type { Classification, Kind } from './files/classify.ts'
export type { HookCall, Hooks, PostToolResponse, PreHookAnswer, PreToolCall } from './hooks.ts'
export { defaultLimits, type Limits } from './limits.ts'
export { type LogicalPath, type Path, parsePath } from './paths/logical-path.ts'
export type { CallOptions, Progress, Success } from './pipeline.ts'
export type { ApprovalAnswer, ApprovalRequest, ApproveHandler, HandlerAnswer } from './policy/approval.ts'
export type { Label, LabelPolicy, LabelSink, LabelSource } from './policy/labels.ts'
export type { MemoryPolicy } from './policy/memory.ts'
export type { ParkedCall, ParkedCalls, ParkedEffect } from './policy/parked.ts'
export type { Plan } from './policy/plan.ts'
export {
  type CommandPolicy,
  type Decision,
  type Override,
  type Policy,
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
export { type Draft, defineTool, type Tool, type ToolContext } from './tool.ts'
export type { ToolInput, ToolName, ToolOutput } from './tools/index.ts'
export type {
  Backend,
  Capabilities,
  Change,
  CommitOptions,
  DirectoryEntry,
  Expectation,
  FileRead,
  Receipt,
  Stat,
  State,
  Version,
} from './vfs/backend.ts'
export { mounts } from './vfs/mounts.ts'
export { readOnly } from './vfs/read-only.ts'
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
