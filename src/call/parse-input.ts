import type * as z from 'zod'
import { ToolError } from '../errors.ts'
import type { Tool } from '../tools/define-tool.ts'

/**
 * Parses a call's input with the tool's schema.
 *
 * @throws ToolError `INVALID_INPUT` with the first wrong field, why, and all issues
 */
export function parseInput<I extends z.ZodObject>(tool: Pick<Tool<I>, 'name' | 'input'>, input: unknown): z.output<I> {
  const parsed = tool.input.safeParse(input)
  if (parsed.success) return parsed.data
  const issues = parsed.error.issues
    .slice(0, 10)
    .map((issue) => ({ field: fieldOf(issue), why: bounded(issue.message) }))
  const [first] = issues
  throw new ToolError('INVALID_INPUT', `Invalid input for ${tool.name}: ${first?.field}: ${first?.why}`, {
    field: first?.field,
    issues,
    hint: `Correct "${first?.field}" and call again. Fields: ${Object.keys(tool.input.shape).join(', ')}.`,
  })
}

function fieldOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') return bounded(issue.keys.join(', '))
  return issue.path.length === 0 ? 'input' : bounded(issue.path.map(String).join('.'))
}

/** A part of a message that a caller wrote: bounded, so that a refusal cannot be made to carry anything at length. */
function bounded(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
