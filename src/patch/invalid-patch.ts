import { ToolError } from '../errors.ts'

/** The refusal of a patch that cannot be read, with the line of the patch where that shows, from 1. */
export function invalidPatch(line: number, why: string, hint?: string): ToolError {
  return new ToolError('INVALID_PATCH', `Cannot read the patch: line ${line}: ${why}`, {
    line,
    ...(hint === undefined ? {} : { hint }),
  })
}
