import type { Failure } from '../../errors.ts'
import { isOfProgram, knownSentences, namesIn } from '../../util/hint-names.ts'

/**
 * Returns a refusal with a hint for the client of a server: the person who runs the server takes the place of functions and options of
 * the program.
 */
export function inClientWords(failure: Failure): Failure {
  const hint = knownSentences(failure.hint, (name) => !isOfProgram(name))
  // An approval that is pending here is one that the user was not asked for.
  const isForOthers = failure.code === 'APPROVAL_REQUIRED' || namesIn(failure.hint).some(isOfProgram)
  if (!isForOthers) return failure
  return { ...failure, hint: `${hint} Ask the person who runs the server.`.trimStart() }
}
