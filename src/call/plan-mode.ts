import type { WorkPlan } from '../policy/plan.ts'
import { planVerdict } from '../policy/plan.ts'
import { openCallAudit } from './call-audit.ts'
import type { RunState } from './state/run-state.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/** Whether a run still has to wait for the approval of its plan. */
export function isInPlanMode(core: WorkspaceState, run: RunState): boolean {
  return core.mode === 'plan' && run.plan === undefined
}

/** The run works by an approved plan from here on: its paths are the task's scope. */
export function activatePlan(core: WorkspaceState, run: RunState, plan: WorkPlan): void {
  core.submitted.delete(run)
  run.plan = plan
  const { text, scope, ...task } = run.task ?? { text: plan.text }
  const inForce = plan.paths ?? scope
  run.task = { ...task, text, ...(inForce === undefined ? {} : { scope: inForce }) }
  core.events.emit({ type: 'mode' })
}

/**
 * Ends plan mode for every run, and approves the plans that wait, each with a record of its own. The mode has ended before
 * the first record is written.
 */
export async function approvePlans(core: WorkspaceState, by: string | undefined): Promise<void> {
  core.mode = 'act'
  const waiting = [...core.submitted]
  for (const [run, { plan }] of waiting) activatePlan(core, run, plan)
  core.events.emit({ type: 'mode' })
  for (const [run, { plan, approvalId }] of waiting) {
    const record = openCallAudit(core, run, 'approve_plan', {})
    record.judged(planVerdict)
    record.plan(plan)
    record.answered({ verdict: planVerdict }, 'once', by)
    await record.outcome({ applied: [] }, undefined)
    core.waiting.delete(approvalId)
    // Nobody may answer it a second time.
    await Promise.resolve(core.parking.take(approvalId)).catch(() => {})
  }
}
