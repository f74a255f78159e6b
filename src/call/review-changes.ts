/** What an approver and the audit see of a change set: its diff, its lines and its risks. Loaded with the first change. */

export { risksOf } from '../policy/risk/index.ts'
export { attributesOf, changedLines, diffKey, diffOfChanges } from './change-diff.ts'
