import type { Artifacts } from '../../audit/artifacts.ts'
import type { Failure } from '../../errors.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../../policy/access.ts'
import type { Approval, ApprovalQuestion, ApprovalRequest, ApproveHandler } from '../../policy/approval.ts'
import type { Label } from '../../policy/labels.ts'
import type { WorkPlan } from '../../policy/plan.ts'
import type { Verdict } from '../../policy/policy.ts'
import type { TaintOrigin } from '../../policy/taint.ts'
import type { CommandVerdict } from '../../shells/analysis/verdict.ts'
import type { RefusedAccess } from '../../shells/types.ts'
import type { Change, EntryState, Receipt } from '../../storage/backend.ts'
import type { Tool } from '../../tools/define-tool.ts'

/** A call that passed the first six steps. */
export interface AuthorizedCall {
  readonly tool: Tool
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
  readonly verdict: Verdict
  /** Of a command: what its line would start. */
  readonly line?: CommandVerdict
}

/** What a caller may say about one call, beside its input. */
export interface CallOptions {
  /** Cancels the call and drops what it had drafted. A commit that has begun is finished. */
  readonly signal?: AbortSignal
  /** Answers what policy asks about this call, where the workspace has no `approve` of its own. */
  readonly approve?: ApproveHandler
  /** The caller's own name for the step of its work that this call belongs to. */
  readonly step?: string
  /** Told how far the call is, where it takes long: counts, never anything that it has read. */
  readonly onProgress?: (progress: Progress) => void
}

/** What every success carries beside its tool's own fields. */
export interface Success {
  readonly ok: true
  /** One line that says what the call did. */
  readonly summary: string
  readonly warnings: readonly string[]
  /** Names the call: in the audit, and for `undo`. */
  readonly callId: string
  /** Where the diff of a mutation, or a result that was cut, can be read whole. */
  readonly artifactUri?: string
  /** How sensitive what it shows is, where the policy has labels. */
  readonly label?: Label
  readonly [field: string]: unknown
}

/** How far a call is. It only grows. */
export interface Progress {
  readonly done: number
  /** Where it is known. */
  readonly total?: number
  /** What is counted, such as `files searched`. */
  readonly unit: string
}

/** The evidence of one call while it lives: two records for a call that was carried out, one for a call that was not. */
export interface CallAudit {
  /** Names the call: in the audit, in its result, and for undo. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly started: number
  /** Whether the call was counted against the rates. */
  isCounted: boolean
  readonly warnings: string[]
  enterStep(step: CallStep): void
  setPlannedAccesses(planned: readonly Access[]): void
  setAccesses(accesses: readonly GuardedAccess[], input: Readonly<Record<string, unknown>>): void
  addRead(path: Path): void
  /** An access of a command that was refused while the call as a whole went on. */
  addRefusal(refusal: RefusedAccess): void
  setVerdict(verdict: Verdict): void
  /** The version that the call read of a path. */
  addReadVersion(version: { readonly path: Path; readonly sha256: string }): void
  /** The plan that the call hands in or approves, if any. */
  setPlan(plan: WorkPlan | undefined): void
  /** How a question about the call was answered. */
  addApproval(question: Pick<ApprovalQuestion, 'verdict'>, how: Approval | 'denied', by?: string): void
  /** The label of what the call shows, and where the taint of its run came from. */
  setLabel(label: Label, taint: TaintOrigin | undefined): void
  /** @throws ToolError `AUDIT_FAILED`: then nothing may be changed, and no plan is approved */
  writeIntent(changes: Pick<AuthorizedChanges, 'changes'>): Promise<void>
  writeOutcome(receipt: Receipt, artifactUri: string | undefined): Promise<void>
  writeRefusal(failure: Failure): Promise<void>
}

/** The steps of a call, as the audit names the one where a call was refused. */
export type CallStep =
  | 'input'
  | 'plan'
  | 'guard'
  | 'limits'
  | 'policy'
  | 'hooks'
  | 'draft'
  | 'approval'
  | 'commit'
  | 'response'

/** The changes of a draft, judged one by one. */
export interface AuthorizedChanges {
  readonly changes: readonly KnownChange[]
  /** The call's verdict and that of every change, combined. */
  readonly verdict: Verdict
  readonly bytes: number
  /** What whoever approves is shown. */
  approvalRequest(): Omit<ApprovalRequest, 'id'>
  /** Keeps the diff, made when it is first read, and gives its address; where there is no room, a warning. */
  storeDiff(artifacts: Artifacts, receipt: Receipt, warnings: string[]): string | undefined
}

/** A change with what stands at its path before it, as far as its bytes are known. */
export interface KnownChange {
  readonly change: Change
  readonly before: EntryState
  /** Of a file too large to be looked at whole: `before` is only its head, and this all its bytes. */
  readonly headOf?: number
}
