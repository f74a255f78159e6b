import type { Failure } from '../../errors.ts'
import { toolFields } from '../../tools/tool-fields.ts'
import { isOfProgram, knownSentences, namesIn } from '../../util/hint-names.ts'

/**
 * Returns a refusal with a hint for the client of a server: without built-in tools that are not served, and with the person who
 * runs the server in place of functions and options of the program.
 */
export function inClientWords(failure: Failure, served: readonly { readonly name: string }[]): Failure {
  const isServed = (name: string) => !Object.hasOwn(toolFields, name) || served.some((tool) => tool.name === name)
  const hint = knownSentences(failure.hint, (name) => isServed(name) && !isOfProgram(name))
  if (hint === failure.hint) return failure
  const end = namesIn(failure.hint).some(isOfProgram) ? 'Ask the person who runs the server.' : ''
  return { ...failure, hint: [hint, end].filter((text) => text !== '').join(' ') || 'Do not repeat the call as it is.' }
}
