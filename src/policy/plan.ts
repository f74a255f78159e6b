import type { Verdict } from './policy.ts'

/** What an agent means to do, as it hands it in. */
export interface WorkPlan {
  readonly text: string
  /** Globs of the paths that it is about. */
  readonly paths?: readonly string[]
}

/** A plan always asks, whatever allows the call that hands it in. */
export const planVerdict: Verdict = {
  decision: 'ask',
  reason: 'A plan needs an approval',
  rules: [{ name: 'plan', action: 'ask', source: 'plan' }],
}
