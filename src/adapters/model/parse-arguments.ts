import { findJsonError } from '../../util/json-syntax.ts'
import type { ModelAnswer } from './toolbox.ts'

/** The input of a call. `problem` says why its text is not valid JSON. */
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

/** Adds the problem to a refusal. Some tools take the text as it is, so a successful call needs no explanation. */
export function explainAnswer(answer: ModelAnswer, { problem }: ParsedArguments): ModelAnswer {
  return problem === undefined || !answer.isError ? answer : { ...answer, text: `${answer.text}\n${problem}` }
}
