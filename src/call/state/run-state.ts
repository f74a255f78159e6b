import type { Artifacts } from '../../audit/artifacts.ts'
import type { ReadHistory } from '../../history/read-history.ts'
import type { Path } from '../../paths/logical-path.ts'
import type { Approvals } from '../../policy/approval.ts'
import type { WorkPlan } from '../../policy/plan.ts'
import type { PolicyCall } from '../../policy/policy.ts'
import type { Rates } from '../../policy/rate-limits.ts'
import type { Taint } from '../../policy/taint.ts'
import type { Processes } from '../../shells/shared/background-processes.ts'

/** What a run works on, as policy and report hold the run against it. */
export interface Task {
  readonly text: string
  /** Globs of the paths that the task is about. */
  readonly scope?: readonly string[]
  readonly risk?: string
}

/** One agent's session: what it was shown, how much it did, what it was allowed. Never shared between two agents. */
export interface RunState {
  readonly id: string
  readonly actor: string
  /** Which notes it may see, where the memory asks. */
  readonly scopes: readonly string[]
  /** An approved plan's paths become its scope. */
  task: Task | undefined
  /** The plan that was approved, where the workspace asks for one. */
  plan: WorkPlan | undefined
  readonly readHistory: ReadHistory
  readonly rates: Rates
  readonly taint: Taint
  readonly approvals: Approvals
  readonly artifacts: Artifacts
  /** Where its commands start, and those that run in the background. */
  readonly shell: { cwd: Path; readonly processes: Processes }
  /** Calls so far: a call's id is the run's id and its number. */
  calls: number
  /** The task as the audit last recorded it. */
  recordedTask: Task | undefined
}

/** A call as policy judges it. */
export function policyCall(
  run: RunState,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Omit<PolicyCall, 'accesses'> {
  const risk = run.task?.risk
  return { tool, input, ...(risk === undefined ? {} : { task: { risk } }) }
}
