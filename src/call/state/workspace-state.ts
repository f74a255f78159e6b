import type { Artifacts } from '../../audit/artifacts.ts'
import type { Audit } from '../../audit/audit-log.ts'
import type { Failure, ToolError } from '../../errors.ts'
import type { SecretRefusals } from '../../files/secrets/hidden.ts'
import type { DocumentCache } from '../../files/text/document.ts'
import type { GitProvider } from '../../git/provider.ts'
import type { WorkspaceDiffs } from '../../git/workspace-diff.ts'
import type { Journal } from '../../history/journal.ts'
import type { Limits } from '../../limits.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import type { ApprovalQuestion } from '../../policy/approval.ts'
import type { DialectCall } from '../../policy/dialect-call.ts'
import type { Policy } from '../../policy/evaluation.ts'
import type { ParkedCalls } from '../../policy/parked-calls.ts'
import type { WorkPlan } from '../../policy/plan.ts'
import type { FileLabels, Labels, TaintOrigin } from '../../policy/taint.ts'
import type { Processes } from '../../shells/shared/background-processes.ts'
import type { Shell } from '../../shells/types.ts'
import type { Backend, Change, Receipt } from '../../storage/backend.ts'
import type { BuiltinDraft } from '../../tools/builtin-tool.ts'
import type { Tool } from '../../tools/define-tool.ts'
import type { FileScans } from '../../tools/shared/file-scan.ts'
import type { CallAudit, CallOptions, Success } from './call.ts'
import type { CheckReport } from './checks.ts'
import type { WorkspaceEvents } from './events.ts'
import type { Hooks } from './hooks.ts'
import type { RunState } from './run-state.ts'
import type { TaintTracker } from './taint-tracker.ts'
import type { ToolRunner } from './tool-runner.ts'

/** The state that all runs of a workspace share. */
export interface WorkspaceState {
  readonly backend: Backend
  readonly policy: Policy
  readonly labels: Labels
  readonly openTaintTracker: OpenTaintTracker
  /** Labels of the content that runs wrote into files. */
  readonly fileLabels: FileLabels
  /** The labels of names, by the path of the entry that has the name. */
  readonly nameLabels: FileLabels
  /** The tools of this workspace's set, by name. */
  readonly tools: ReadonlyMap<string, Tool>
  /** The tools of `extraTools`. */
  readonly ownTools: ReadonlySet<Tool>
  /** Returns what calls the functions of a tool. */
  runnerOf(tool: Tool): ToolRunner
  /** Tools of the set that this workspace cannot serve, with the reason. */
  readonly unavailableTools: ReadonlyMap<string, ToolError>
  readonly limits: Limits
  /** The limits that the embedding program or the policy sets. */
  readonly limitChanges: Partial<Limits>
  readonly toolCallsPerMinute: Readonly<Record<string, number>> | undefined
  readonly audit: Audit
  readonly journal: Journal
  /** The ids of all runs of the workspace, its forks and its history: calls, records and artifacts are named by them. */
  readonly runIds: Set<string>
  /** What changes have told about secrets: to all runs of the workspace, its forks and its history, which may share an agent. */
  readonly secretRefusals: SecretRefusals
  /** The artifacts of every run that are stored in a backend. They are flushed when the workspace closes. */
  readonly artifacts: Set<Artifacts>
  /** Forks, which keep the old content of what is about to change, and shells that work on a copy of the files. */
  readonly commitListeners: CommitListeners
  /** Creates the background commands of a run. Adds them to `started` with the first command. */
  openProcesses(started: Set<Processes>): Processes
  /** The background commands of all runs. */
  readonly processes: Set<Processes>
  /** What ends when the workspace is closed: the watches of files, and the requests for approvals. */
  readonly ends: Set<() => void>
  /** The workspace that this one is a fork of: its commit goes there. */
  readonly origin: WorkspaceState | undefined
  readonly documents: DocumentCache
  /** The tags of files that were searched for secrets as a whole and have none, by path. */
  readonly withoutSecrets: Map<string, string>
  /** The searches of large files for secrets, by path. */
  readonly secretScans: FileScans
  /** How the workspace differs from its base. */
  readonly diffs: WorkspaceDiffs
  /** Lets commands change the repository. */
  readonly git: GitProvider | undefined
  /** Calls that wait for an approval. */
  readonly parkedCalls: ParkedCalls
  /** The runs of parked calls that were made here, by approval id. */
  readonly parkedRuns: Map<string, RunState>
  readonly hooks: Hooks
  readonly checks: OpenChecks | undefined
  /** The directory of the notes, and whether only the memory tools reach it. */
  readonly memory: { readonly path: LogicalPath; readonly acl: boolean } | undefined
  readonly staleGuard: 'hash' | 'shown'
  /** Runs commands. */
  readonly shell: Shell | undefined
  /** Whether a command starts in the directory where the previous one of its run ended. */
  readonly keepCwd: boolean
  /** Whether files cannot be changed at all. */
  readonly isReadOnly: boolean
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** The plans that wait for an approval. */
  readonly submittedPlans: Map<RunState, SubmittedPlan>
  readonly events: WorkspaceEvents
  /** `plan`: no run changes anything until its plan is approved. */
  mode: 'act' | 'plan'
  isClosed: boolean
}

/**
 * Opens the taint tracker of a call.
 *
 * @param isTool false for operations of the workspace itself, such as undo: they restore earlier states, and no sink
 * refuses them
 */
export type OpenTaintTracker = (
  workspace: WorkspaceState,
  run: RunState,
  call: Pick<TaintOrigin, 'callId' | 'tool'>,
  isTool: boolean,
) => TaintTracker

/** Listeners that are called before a commit. */
export type CommitListeners = Set<{ hold(changes: readonly Change[]): Promise<void> }>

/** A plan that waits for its approval, or for `approvePlan`. */
export interface SubmittedPlan {
  readonly plan: WorkPlan
  readonly approvalId: string
}

/** The checks of a workspace. */
export interface OpenChecks {
  /** Runs the checks for the files that a call has changed, each once. Never rejects. */
  run(call: CheckedCall): Promise<readonly CheckReport[]>
}

/** A call whose changes are checked. */
export interface CheckedCall {
  readonly workspace: WorkspaceState
  readonly run: RunState
  readonly applied: Receipt['applied']
  readonly audit: Pick<CallAudit, 'id' | 'addRead' | 'setChecks'>
  readonly taint: TaintTracker
  readonly options: Pick<CallOptions, 'signal'> & { readonly dialectCall?: DialectCall | undefined }
  /** Makes a call that belongs to a check. */
  call(
    tool: Tool,
    input: object,
    options: CheckedCall['options'] & { readonly check: CheckCall; readonly via: string },
  ): Promise<Success | Failure>
}

/** How the call of a check differs from one of the agent. */
export interface CheckCall {
  /** @throws ToolError `APPROVAL_REQUIRED` for a question that is not answered for the run */
  requireApproved(question: ApprovalQuestion): void
  /** Drops the changes of a draft, and what it shows. */
  withoutEffect<P extends { readonly draft: BuiltinDraft<unknown> }>(proposed: P): P
}
