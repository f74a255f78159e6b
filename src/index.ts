/**
 * Wardspace: a workspace that an AI agent can be trusted with. This entry runs wherever JavaScript does. What needs a
 * platform or another package, and what authors of backends, shells, dialects and tools need, has a subpath of its own.
 */

export type { AuditRecord, AuditSink } from './audit/audit-log.ts'
export type { RunReport } from './audit/report.ts'
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
export type { Dialect } from './dialects/runtime/types.ts'
export { type ErrorCode, type Failure, type FailureFields, ToolError, type ToolFailure } from './errors.ts'
export type { Checkpoint, JournalEntry, WorkspaceHistory } from './history/journal.ts'
export { defaultLimits, type Limits } from './limits.ts'
export { type Path, parsePath } from './paths/logical-path.ts'
export type { ApprovalAnswer, ApprovalRequest, ApproveHandler } from './policy/approval.ts'
export type { Policy } from './policy/evaluation.ts'
export type { Label } from './policy/labels.ts'
export type { ParkedCall, ParkedCalls } from './policy/parked-calls.ts'
export type { Permission } from './policy/permissions.ts'
export type { WorkPlan } from './policy/plan.ts'
export { type PresetName, presetNames } from './policy/presets.ts'
export type { PolicyInput, PolicyRule } from './policy/schema.ts'
export type { Decision } from './policy/types.ts'
export type { Shell } from './shells/types.ts'
export type { Backend } from './storage/backend.ts'
export { mounts } from './storage/mounts.ts'
export { readOnly } from './storage/read-only.ts'
export { defineTool, type Tool, type ToolContext } from './tools/define-tool.ts'
export type { ToolInput, ToolName, ToolOutput } from './tools/index.ts'
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
export type { Consulted, Reverted, TypedCalls } from './workspace/types.ts'
