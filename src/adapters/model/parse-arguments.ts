import { findJsonError } from '../../util/json-syntax.ts'
import type { ModelAnswer } from './toolbox.ts'

/** Arguments as an input, and why they are none. */
interface ParsedArguments {
  readonly input: unknown
  readonly problem?: string
}

/** Parses the arguments of a call. Text with an error or a repeated name is returned as it is, and the workspace refuses it. */
export function parseArguments(text: string): ParsedArguments {
  if (text.trim() === '') return { input: {} }
  const error = findJsonError(text, { uniqueNames: true })
  if (error === undefined) return { input: JSON.parse(text) }
  const { line, column, message } = error
  return { input: text, problem: `The arguments are not valid JSON (line ${line}, column ${column}): ${message}` }
}

/** Adds to a refusal why the arguments of its call are none. A tool may also take a text as it is. */
export function explainAnswer(answer: ModelAnswer, { problem }: ParsedArguments): ModelAnswer {
  return problem === undefined || !answer.isError ? answer : { ...answer, text: `${answer.text}\n${problem}` }
}
