/** The labels of a policy, and what tracks them. Loaded with a workspace whose policy has labels. */

export { compileLabels } from '../policy/compile-labels.ts'
export { openTaintTracker } from './taint-tracker.ts'
