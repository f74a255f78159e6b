import { ToolError } from '../errors.ts'

/** The error for a patch that cannot be parsed, with the line of the patch, from 1. */
export function invalidPatch(line: number, reason: string, hint?: string): ToolError {
  return new ToolError('INVALID_PATCH', `Cannot read the patch: line ${line}: ${reason}`, {
    line,
    ...(hint === undefined ? {} : { hint }),
  })
}
