import type { Artifacts } from '../../audit/artifacts.ts'
import type { AuditEntry, AuditedPush } from '../../audit/record.ts'
import type { Failure, ToolFailure } from '../../errors.ts'
import type { TakenMedia } from '../../files/media/types.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Access, GuardedAccess } from '../../policy/access.ts'
import type { Approval, ApprovalQuestion, ApprovalRequest, ApproveHandler } from '../../policy/approval.ts'
import type { DialectCall } from '../../policy/dialect-call.ts'
import type { Verdict } from '../../policy/evaluation.ts'
import type { Label } from '../../policy/labels.ts'
import type { WorkPlan } from '../../policy/plan.ts'
import type { TaintOrigin } from '../../policy/taint.ts'
import type { CommandVerdict } from '../../shells/analysis/verdict.ts'
import type { JudgedScript, RefusedAccess } from '../../shells/types.ts'
import type { Change, EntryState, Receipt } from '../../storage/backend.ts'
import type { Tool } from '../../tools/define-tool.ts'
import type { CheckReport } from './checks.ts'

/** An access of an explained call. */
export interface ExplainedAccess extends Omit<GuardedAccess, 'permission'> {
  /** In a denied call `file:write`, as in its refusal: `create` or `replace` would show whether a hidden file exists. */
  readonly permission: Access['permission']
}

/** A call that passed the first six steps. */
export interface AuthorizedCall {
  readonly tool: Tool
  readonly input: Readonly<Record<string, unknown>>
  readonly accesses: readonly GuardedAccess[]
  readonly verdict: Verdict
  /** The call of a dialect tool that makes this call. */
  readonly dialectCall?: DialectCall | undefined
  /** Of a command: the commands that its line would run. */
  readonly line?: CommandVerdict
  /** Of a command: the files whose commands its line would run. */
  readonly lineScripts?: readonly JudgedScript[]
  /** Every spelling of the commands in the script files that the line runs, if the shell does not see them start. */
  readonly scriptCommands?: readonly string[]
}

/** Options of one call. */
export interface CallOptions {
  /** Cancels the call and discards its draft. A commit that has begun is completed. */
  readonly signal?: AbortSignal
  /** Answers approval requests of this call, if the workspace has no `approve` handler. */
  readonly approve?: ApproveHandler
  /** The caller's own name for the step of its work that this call belongs to. */
  readonly step?: string
  /**
   * The media that the caller can pass on to its model: `true` for all, or a list of types such as `image/png`. `read_file` then
   * returns images and PDF documents as `media`, and refuses them otherwise. Default: none.
   */
  readonly media?: TakenMedia
  /** Called with the progress of a long call: counts only, never content. */
  readonly onProgress?: (progress: Progress) => void
}

/** The fields of every success, in addition to those of its tool. */
export interface SuccessFields {
  readonly ok: true
  /** One line that says what the call did. */
  readonly summary: string
  readonly warnings: readonly string[]
  /** Identifies the call: in the audit, and for `undo`. */
  readonly callId: string
  /** The address of the complete diff of a mutation, or of the complete result if it was cut. */
  readonly artifactUri?: string
  /** The sensitivity of the shown content, if the policy has labels. */
  readonly label?: Label
  /** What the checks of the workspace found after the call had changed files. Absent if none of them ran. */
  readonly checks?: readonly CheckReport[]
}

/** A success with the result fields `O`. A mistyped field does not compile. */
export type SuccessOf<O> = Pick<SuccessFields, keyof SuccessFields> & O

/** The result of a call with the result fields `O`. */
export type ResultOf<O> = SuccessOf<O> | ToolFailure

/** A success of a tool whose name is known at run time only. */
export interface Success extends SuccessFields {
  readonly [field: string]: unknown
}

/** The progress of a call. `done` never decreases. */
export interface Progress {
  readonly done: number
  /** The final count, if it is known. */
  readonly total?: number
  /** The counted unit, such as `files searched`. */
  readonly unit: string
}

/** The audit of one running call. A call that is carried out writes two records, a refused call one. */
export interface CallAudit {
  /** Identifies the call: in the audit, in its result, and for undo. */
  readonly id: string
  /** Milliseconds since 1970. */
  readonly started: number
  /** Whether the call was counted against the rates. */
  isCounted: boolean
  readonly warnings: string[]
  /** The present step. */
  step: CallStep
  /** The accesses of the plan. */
  planned: readonly Access[]
  verdict: Verdict | undefined
  /** The plan that the call submits or approves. */
  plan: WorkPlan | undefined
  setAccesses(accesses: readonly GuardedAccess[], input: Readonly<Record<string, unknown>>): void
  addRead(path: Path): void
  /** Records a refused access of a command whose call went on. */
  addRefusal(refusal: RefusedAccess): void
  /** Records the version of a file that the call read. */
  addReadVersion(version: { readonly path: Path; readonly sha256: string }): void
  /** Records the checks of the changes. */
  setChecks(checks: AuditEntry['checks']): void
  /** Records the answer to an approval request. */
  addApproval(question: Pick<ApprovalQuestion, 'verdict'>, how: Approval | 'denied', by?: string): void
  /** Sets the label of the shown content, and the origin of the taint of the run. */
  setLabel(label: Label, taint: TaintOrigin | undefined): void
  /** @throws ToolError `AUDIT_FAILED`: nothing may be changed, and no plan becomes active */
  writeIntent(changes: Pick<AuthorizedChanges, 'changes'>): void | Promise<void>
  /** Records a push before it is sent. @throws ToolError `AUDIT_FAILED`: nothing may be sent */
  writePush(push: AuditedPush): Promise<void>
  /** Sets the committed changes for the last record. */
  setEffect(receipt: Receipt): void
  /** Sets the artifact of the call and the lines that it changed for the last record. */
  setOutput(artifactUri: string | undefined, lines: AuditEntry['lines']): void
  /** Writes the last record of the call: its outcome, or the refusal of a call that has no intent record. */
  writeOutcome(failure?: Failure): void | Promise<void>
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

/** The changes of a draft with the verdict on them. */
export interface AuthorizedChanges {
  readonly changes: readonly KnownChange[]
  /** The verdict on the call combined with that on every change. */
  readonly verdict: Verdict
  readonly bytes: number
  /** Builds the request that the approver sees. */
  approvalRequest(): Omit<ApprovalRequest, 'id'>
  /** Counts the lines that change. `undefined` without changes, and for a change set that is too large. */
  changedLines(): AuditEntry['lines']
  /** Stores the diff and returns its address. The diff is created when it is first read. Adds a warning if there is no room. */
  storeDiff(artifacts: Artifacts, receipt: Receipt, warnings: string[]): string | undefined
}

/** A change with the previous state of its path. */
export interface KnownChange {
  readonly change: Change
  readonly before: EntryState
  /** Of a file too large to read whole: its size in bytes. `before` is then only its beginning. */
  readonly headOf?: number
}
