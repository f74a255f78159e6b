import { findJsonError } from '../../checks/json-syntax.ts'
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

/** Adds to an answer why the arguments of its call are none. */
export function explainAnswer(answer: ModelAnswer, { problem }: ParsedArguments): ModelAnswer {
  return problem === undefined ? answer : { ...answer, text: `${answer.text}\n${problem}` }
}
