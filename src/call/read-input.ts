import type { Tool } from '../tools/define-tool.ts'
import { isPlain } from '../util/check-options.ts'
import type { AuthorizedCall } from './state/call.ts'

/**
 * Parses a call's input with the tool's schema. What describes a wrong input is loaded with the first one.
 *
 * @throws ToolError `INVALID_INPUT` with the first wrong field and all issues
 */
export function readInput(
  tool: Pick<Tool, 'name' | 'input'>,
  input: unknown,
): AuthorizedCall['input'] | Promise<AuthorizedCall['input']> {
  return parsedOrUndefined(tool, input) ?? refuseInput(tool, input)
}

async function refuseInput(tool: Pick<Tool, 'name' | 'input'>, input: unknown): Promise<AuthorizedCall['input']> {
  const { parseInput } = await import('./parse-input.ts')
  return parseInput(tool, input)
}

/** Returns the parsed input. `undefined` if it does not match, or cannot be read. */
function parsedOrUndefined(
  { input: schema }: Pick<Tool, 'input'>,
  input: unknown,
): AuthorizedCall['input'] | undefined {
  try {
    // A schema takes a Map, or a Date, for an object without fields.
    return isPlain(input) ? schema.safeParse(input).data : undefined
  } catch {
    return undefined
  }
}
