import type { Failure } from '../../errors.ts'
import { toolFields } from '../../tools/tool-fields.ts'
import { isOfProgram, knownSentences, namesIn } from '../../util/hint-names.ts'

/**
 * Returns a refusal with a hint for the client of a server: without built-in tools that are not served, and with the person who
 * runs the server in place of functions and options of the program.
 *
 * @param served the tools that are served. Default: all
 */
export function inClientWords(failure: Failure, served?: readonly { readonly name: string }[]): Failure {
  const isServed = (name: string) =>
    served === undefined || !Object.hasOwn(toolFields, name) || served.some((tool) => tool.name === name)
  const hint = knownSentences(failure.hint, (name) => isServed(name) && !isOfProgram(name))
  // An approval that is pending here is one that the user was not asked for.
  const isForOthers = failure.code === 'APPROVAL_REQUIRED' || namesIn(failure.hint).some(isOfProgram)
  if (hint === failure.hint && !isForOthers) return failure
  const end = isForOthers ? 'Ask the person who runs the server.' : ''
  return { ...failure, hint: [hint, end].filter((text) => text !== '').join(' ') || 'Do not repeat the call as it is.' }
}
