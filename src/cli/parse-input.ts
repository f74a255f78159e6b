import { findJsonError } from '../util/json-syntax.ts'

/**
 * Parses the input of a tool.
 *
 * @throws TypeError with the first syntax error or repeated name, and its position
 */
export function parseInput(text: string): unknown {
  const error = findJsonError(text, { uniqueNames: true })
  if (error === undefined) return JSON.parse(text)
  const help = /^\s*\{/.test(text) ? '' : `; an input is an object in quotes, such as '{"path":"a.txt"}'`
  throw new TypeError(
    `The input is not valid JSON (line ${error.line}, column ${error.column}): ${error.message}${help}`,
  )
}
