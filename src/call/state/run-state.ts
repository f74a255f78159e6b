import type { Artifacts } from '../../audit/artifacts.ts'
import type { ReadHistory } from '../../history/read-history.ts'
import type { SeenVersions } from '../../history/seen-versions.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Approvals } from '../../policy/approval.ts'
import type { DialectCall } from '../../policy/dialect-call.ts'
import type { PolicyCall } from '../../policy/evaluation.ts'
import type { WorkPlan } from '../../policy/plan.ts'
import type { Rates } from '../../policy/rate-limits.ts'
import type { Taint } from '../../policy/taint.ts'
import type { Processes } from '../../shells/shared/background-processes.ts'

/** The task of a run. Policy and report compare the calls of the run with it. */
export interface Task {
  readonly text: string
  /** Globs of the paths that belong to the task. */
  readonly scope?: readonly string[]
  readonly risk?: string
}

/** The state of one agent's session: its read history, rates, taint, approvals and artifacts. Never shared between agents. */
export interface RunState {
  readonly id: string
  readonly actor: string
  /** The scopes of the notes that the run may see, if the memory has an ACL. */
  readonly scopes: readonly string[]
  /** The paths of an approved plan become its scope. */
  task: Task | undefined
  /** The approved plan, if the workspace was in plan mode. */
  plan: WorkPlan | undefined
  readonly readHistory: ReadHistory
  readonly seenVersions: SeenVersions
  readonly rates: Rates
  readonly taint: Taint
  readonly approvals: RunApprovals
  readonly artifacts: Artifacts
  /** The directory in which its next command starts, and its background commands. */
  readonly shell: { cwd: Path; readonly processes: Processes }
  /** Number of calls so far. The id of a call consists of the id of its run and this number. */
  calls: number
  /** The task as the audit last recorded it. */
  recordedTask: Task | undefined
}

/** The approvals of a run. Their code is loaded with the first request. */
export interface RunApprovals {
  /** Whether the workspace has a handler, which answers in place of any that a call has. */
  readonly hasHandler: boolean
  /** The approvals, once something was asked. Before, nothing is allowed for the run. */
  readonly opened: Approvals | undefined
  open(): Promise<Approvals>
}

/** Returns a call as policy evaluates it. `dialectCall`: the call of a dialect tool that makes this call. */
export function policyCall(
  run: RunState,
  tool: string,
  input: Readonly<Record<string, unknown>>,
  dialectCall: DialectCall | undefined,
): Omit<PolicyCall, 'accesses'> {
  const risk = run.task?.risk
  return { tool, dialectCall, input, task: risk === undefined ? undefined : { risk } }
}
