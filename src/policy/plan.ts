import type { Verdict } from './evaluation.ts'

/** A plan that an agent submits. */
export interface WorkPlan {
  readonly text: string
  /** Globs of the paths that the plan concerns. */
  readonly paths?: readonly string[]
}

/** The verdict on a submitted plan: it always needs an approval, even if policy allows the call that submits it. */
export const planVerdict: Verdict = {
  decision: 'ask',
  reason: 'A plan needs an approval',
  rules: [{ name: 'plan', action: 'ask', source: 'plan' }],
}
