import * as z from 'zod'
import { ToolError } from '../errors.ts'
import type { Tool } from '../tools/define-tool.ts'
import { didYouMean } from '../util/check-options.ts'

/**
 * Parses a call's input with the tool's schema.
 *
 * @param otherFields fields that the caller of this function accepts beside those of the schema
 * @throws ToolError `INVALID_INPUT` with the first wrong field, why, and all issues
 */
export function parseInput<I extends z.ZodObject>(
  tool: Pick<Tool<I>, 'name' | 'input'>,
  input: unknown,
  otherFields: readonly string[] = [],
): z.output<I> {
  const parsed = safeParse(tool, input)
  if (parsed.success) return parsed.data
  const issues = parsed.issues.slice(0, 10).map((issue) => ({
    field: fieldOf(issue),
    why: bounded(issue.message) + nearestField(issue, tool.input, otherFields),
  }))
  const [first] = issues
  // A misspelled field is a missing and an unknown one: the message names both.
  const named = issues.filter((_, index) => index === 0 || parsed.issues[index]?.code === 'unrecognized_keys')
  const problems = named.map(({ field, why }) => `${field}: ${why}`).join('; ')
  throw new ToolError('INVALID_INPUT', `Invalid input for ${tool.name}: ${problems}`, {
    field: first?.field,
    issues,
    hint: `Correct "${first?.field}" and call again. Fields: ${Object.keys(tool.input.shape).join(', ')}.`,
  })
}

/** Parses an input whose fields may throw when they are read. */
function safeParse<I extends z.ZodObject>(tool: Pick<Tool<I>, 'name' | 'input'>, input: unknown) {
  try {
    const { success, data, error } = tool.input.safeParse(input)
    // The messages are made when the error is read, and read the input once more.
    return success ? { success, data } : { success, issues: error.issues }
  } catch {
    throw new ToolError('INVALID_INPUT', `Invalid input for ${tool.name}: it cannot be read`, { field: 'input' })
  }
}

function fieldOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys')
    return bounded(issue.keys.map((key) => [...issue.path, key].join('.')).join(', '))
  return issue.path.length === 0 ? 'input' : bounded(issue.path.map(String).join('.'))
}

/** Names the field that is most similar to an unknown one. */
function nearestField(issue: z.core.$ZodIssue, input: z.ZodObject, otherFields: readonly string[]): string {
  if (issue.code !== 'unrecognized_keys') return ''
  const fields = fieldsAt(input, issue.path)
  return didYouMean(issue.keys[0] ?? '', issue.path.length === 0 ? [...fields, ...otherFields] : fields)
}

/** Returns the fields of the object at a path of a schema, or none if there is no single object. */
function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) {
    return fieldsAt(schema.def.innerType, path)
  }
  const [name, ...rest] = path
  if (schema instanceof z.ZodArray) return fieldsAt(schema.def.element, rest)
  if (!(schema instanceof z.ZodObject)) return []
  const inner = schema.shape[String(name)]
  return name === undefined ? Object.keys(schema.shape) : inner === undefined ? [] : fieldsAt(inner, rest)
}

/** A part of a message that a caller wrote: bounded, so that a refusal cannot be made to carry anything at length. */
function bounded(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Returns the error for the name of a tool that does not exist. The hint names the nearest tool, and all of them. */
export function unknownTool(name: unknown, names: readonly string[]): ToolError {
  const text = String(name).slice(0, 100)
  const suggestion = didYouMean(text, names).replace(/^; d(.*)$/, 'D$1 ')
  return new ToolError('UNKNOWN_TOOL', `There is no tool ${JSON.stringify(text)} here`, {
    hint: `${suggestion}Use one of: ${names.join(', ')}.`,
  })
}
