import type { WorkPlan } from '../policy/plan.ts'
import { planVerdict } from '../policy/plan.ts'
import { openCallAudit } from './call-audit.ts'
import { requireOpen } from './require-open.ts'
import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Activates an approved plan: its paths become the scope of the task. */
export function activatePlan(workspace: WorkspaceState, run: RunState, plan: WorkPlan): void {
  workspace.submittedPlans.delete(run)
  run.plan = plan
  const { text, scope, ...task } = run.task ?? { text: plan.text }
  const inForce = plan.paths ?? scope
  run.task = { ...task, text, ...(inForce === undefined ? {} : { scope: inForce }) }
  workspace.events.emit({ type: 'mode' })
}

/**
 * Ends plan mode for every run, and approves the submitted plans, each with its own record. Plan mode ends before the first
 * record is written.
 */
export async function approvePlans(workspace: WorkspaceState, by: string | undefined): Promise<void> {
  requireOpen(workspace)
  workspace.mode = 'act'
  const waiting = [...workspace.submittedPlans]
  for (const [run, { plan }] of waiting) activatePlan(workspace, run, plan)
  workspace.events.emit({ type: 'mode' })
  for (const [run, { plan, approvalId }] of waiting) {
    const record = openCallAudit(workspace, run, 'approve_plan', {})
    record.verdict = planVerdict
    record.plan = plan
    record.addApproval({ verdict: planVerdict }, 'once', by)
    await record.writeOutcome()
    workspace.parkedRuns.delete(approvalId)
    // An approval can be answered once only.
    await Promise.resolve(workspace.parkedCalls.take(approvalId)).catch(() => {})
  }
}
