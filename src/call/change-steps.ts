/** The steps of a call that changes something. Loaded with the first change, before it is evaluated. */

export { requireOrdinaryNames } from '../guard/require-hidden.ts'
export { authorizeChanges } from './authorize-changes.ts'
export { addToJournal, commitChanges, emitChanges } from './commit-changes.ts'
export { readPriorStates } from './prior-states.ts'
export { requireHiddenSecrets } from './require-hidden-secrets.ts'
