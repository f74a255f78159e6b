/** The steps of a call that changes something. Loaded with the first change, before it is evaluated. */

export { addToJournal, commitChanges, emitChanges } from './commit-changes.ts'
export { evaluateChanges } from './evaluate-changes.ts'
export { limitResult } from './limit-result.ts'
export { readPriorStates } from './prior-states.ts'
