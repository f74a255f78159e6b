import { checkFields, type FieldCheck, flag, list } from '../../tools/check-tool.ts'
import { didYouMean } from '../../util/check-options.ts'
import type { Answer, DialectTool, Step, Steps } from './types.ts'

const answerFields: Readonly<Record<keyof Answer, FieldCheck>> = {
  output: { expected: 'a text or data', matches: () => true },
  content: { ...list, isOptional: true },
  structured: {
    expected: 'an object',
    isOptional: true,
    matches: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  },
  isError: { ...flag, isOptional: true },
}

/**
 * Requires that the steps of a tool are an iterator.
 *
 * @throws TypeError for the author of the dialect
 */
export function requireSteps<S extends Steps<unknown>>({ name }: DialectTool, steps: S): S {
  if (typeof (steps as Partial<S> | undefined)?.next === 'function') return steps
  throw new TypeError(`"steps" of the tool "${name}" did not return an iterator: write it as function* steps(…)`)
}

const stepNames = ['tool', 'narrow', 'limit', 'shown', 'nullDevice', 'note', 'unseen']

/**
 * Requires a value that a tool yields to be a step.
 *
 * @throws TypeError for the author of the dialect
 */
export function requireStep({ name }: DialectTool, step: Step): Step {
  if (typeof step === 'object' && step !== null && stepNames.some((part) => part in step)) return step
  throw new TypeError(`The tool "${name}" yields a value that is not a step: write yield* call(…)`)
}

/**
 * Requires the answer of a tool, or the failure of a call.
 *
 * @throws TypeError for the author of the dialect
 */
export function requireAnswer<A>(answer: A, owner: string): A {
  const form = '{ output }, which may have "content", "structured" and "isError"'
  if (typeof answer !== 'object' || answer === null) throw new TypeError(`${owner} did not return ${form}`)
  if (typeof Reflect.get(answer, 'next') === 'function') {
    throw new TypeError(`${owner} returned steps that were not run: write yield* before the call`)
  }
  if (Reflect.get(answer, 'ok') !== false)
    checkFields(answer, answerFields, `The answer of ${owner[0]?.toLowerCase()}${owner.slice(1)}`)
  return answer
}

/**
 * Requires that the input of a step has no unknown fields. The caller cannot correct them, because the tool has chosen them.
 *
 * @throws TypeError for the author of the dialect
 */
export function requireKnownFields(
  { name }: DialectTool,
  { tool, input }: { readonly tool: string; readonly input: unknown },
  fields: readonly string[] | undefined,
): void {
  if (fields === undefined || typeof input !== 'object' || input === null) return
  const unknown = Object.keys(input).find((field) => !fields.includes(field))
  if (unknown === undefined) return
  const help = didYouMean(unknown, fields, 'the fields are')
  throw new TypeError(`The tool "${name}" calls "${tool}" with the unknown field ${JSON.stringify(unknown)}${help}`)
}
