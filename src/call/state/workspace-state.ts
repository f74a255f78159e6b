import type { Artifacts } from '../../audit/artifacts.ts'
import type { Audit } from '../../audit/audit-log.ts'
import type { ToolError } from '../../errors.ts'
import type { DocumentCache } from '../../files/text/document.ts'
import type { GitProvider } from '../../git/provider.ts'
import type { WorkspaceDiffs } from '../../git/workspace-diff.ts'
import type { Journal } from '../../history/journal.ts'
import type { Limits } from '../../limits.ts'
import type { LogicalPath } from '../../paths/logical-path.ts'
import type { ParkedCalls } from '../../policy/parked-calls.ts'
import type { WorkPlan } from '../../policy/plan.ts'
import type { Policy } from '../../policy/policy.ts'
import type { FileLabels, Labels } from '../../policy/taint.ts'
import type { Processes } from '../../shells/shared/background-processes.ts'
import type { Shell } from '../../shells/types.ts'
import type { Backend, Change } from '../../storage/backend.ts'
import type { Tool } from '../../tools/define-tool.ts'
import type { WorkspaceEvents } from './events.ts'
import type { Hooks } from './hooks.ts'
import type { RunState } from './run-state.ts'

/** What all runs of a workspace share. */
export interface WorkspaceState {
  readonly backend: Backend
  readonly policy: Policy
  readonly labels: Labels
  /** What runs here wrote into files. */
  readonly fileLabels: FileLabels
  /** The tools of this workspace's set, by name. */
  readonly tools: ReadonlyMap<string, Tool>
  /** Tools that the set holds but that are not registered here, and why. */
  readonly unavailableTools: ReadonlyMap<string, ToolError>
  readonly limits: Limits
  readonly toolCallsPerMinute: Readonly<Record<string, number>> | undefined
  readonly audit: Audit
  readonly journal: Journal
  /** Those of every run that are kept in a backend: they are written out at the end. */
  readonly artifacts: Set<Artifacts>
  /** Forks that still show what this workspace shows: they keep what is about to change. */
  readonly commitListeners: CommitListeners
  /** The background commands of all runs that have started any. */
  readonly processes: Set<Processes>
  /** The workspace that this one is a fork of: its commit goes there. */
  readonly origin: WorkspaceState | undefined
  readonly documents: DocumentCache
  /** How the workspace differs from its base. */
  readonly diffs: WorkspaceDiffs
  /** What commands change the repository with. */
  readonly git: GitProvider | undefined
  /** Calls that wait for an approval. */
  readonly parkedCalls: ParkedCalls
  /** The runs that made them, by approval, where they were made here. */
  readonly parkedRuns: Map<string, RunState>
  readonly hooks: Hooks
  /** Where notes lie, and whether only the memory tools reach them. */
  readonly memory: { readonly path: LogicalPath; readonly acl: boolean } | undefined
  readonly staleGuard: 'hash' | 'shown'
  /** What runs commands. */
  readonly shell: Shell | undefined
  /** Whether a command starts where the last one of its run ended. */
  readonly keepCwd: boolean
  /** Nothing may be changed here. */
  readonly isReadOnly: boolean
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** The plans that wait for an approval. */
  readonly submittedPlans: Map<RunState, SubmittedPlan>
  readonly events: WorkspaceEvents
  /** `plan`: no run changes anything until its plan is approved. */
  mode: 'act' | 'plan'
}

/** Forks of a workspace that share its files until one of them changes. */
export type CommitListeners = Set<{ hold(changes: readonly Change[]): Promise<void> }>

/** A plan that waits: for whoever ends plan mode by hand. */
export interface SubmittedPlan {
  readonly plan: WorkPlan
  readonly approvalId: string
}
