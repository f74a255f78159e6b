import type * as z from 'zod/mini'
import { ToolError } from '../errors.ts'
import type { Tool } from '../tools/define-tool.ts'
import { didYouMean, isPlain } from '../util/check-options.ts'
import { fieldProblem, inEnglish } from '../util/in-english.ts'
import { nearestName, similarName } from '../util/nearest-name.ts'
import { type ObjectSchema, zodObject } from '../util/object-schema.ts'
import { innerSchemas, isSchema } from '../util/strict-schema.ts'
import { meantTool } from '../util/tool-meanings.ts'

/**
 * Parses a call's input with the tool's schema.
 *
 * @param fields the fields that the hint of an error lists. Default: those of the schema
 * @throws ToolError `INVALID_INPUT` with the first wrong field and all issues
 */
export function parseInput<I extends ObjectSchema>(
  tool: Pick<Tool<I>, 'name' | 'input'>,
  input: unknown,
  fields: readonly string[] = Object.keys(tool.input.shape),
): z.output<I> {
  const parsed = safeParse(tool, input)
  if (parsed.success) return parsed.data as z.output<I>
  const parsedIssues = parsed.issues.flatMap(unknownFieldsOf).slice(0, 10)
  const issues = parsedIssues.map((issue) => ({
    field: fieldOf(issue),
    why: bounded(issue.message) + meantField(issue, parsedIssues, tool.input, input),
  }))
  const [first] = issues
  // A misspelled field causes two issues, a missing and an unknown field. The message names both.
  const quotedIssues = issues.filter((_, index) => index === 0 || parsedIssues[index]?.code === 'unrecognized_keys')
  const problems = quotedIssues.map(({ field, why }) => fieldProblem(field, why)).join('; ')
  throw new ToolError('INVALID_INPUT', `Invalid input for ${tool.name}: ${problems}`, {
    field: first?.field,
    issues,
    hint: hintFor(parsedIssues[0] as z.core.$ZodIssue, issues[0]?.why ?? '', tool.input, fields),
  })
}

/** Returns what to do about an issue: to correct a field or to leave it out, and the fields of its object. */
function hintFor(issue: z.core.$ZodIssue, why: string, input: ObjectSchema, inputFields: readonly string[]): string {
  const isUnknown = issue.code === 'unrecognized_keys'
  const path = isUnknown ? issue.path : issue.path.slice(0, -1)
  const fields = path.length === 0 ? inputFields : fieldsAt(zodObject(input), path)
  const what = `${isUnknown && !why.includes('; did you mean') ? 'Leave out' : 'Correct'} "${fieldOf(issue)}"`
  if (fields.length === 0) return `${what} and call again.${path.length === 0 ? ' There are no fields.' : ''}`
  const owner = path.length === 0 ? 'Fields' : `Fields of "${bounded(path.map(String).join('.'))}"`
  return `${what} and call again. ${owner}: ${fields.join(', ')}.`
}

const notPlain = {
  ...{ code: 'invalid_type', expected: 'object', path: [], input: undefined },
  message: 'must be a plain object without a class',
} as const satisfies z.core.$ZodIssue

/** Parses an input whose fields may throw when they are read. */
function safeParse<I extends ObjectSchema>(tool: Pick<Tool<I>, 'name' | 'input'>, input: unknown) {
  try {
    // A schema takes a Map or a Date for an object without fields.
    if (typeof input === 'object' && input !== null && !Array.isArray(input) && !isPlain(input))
      return { success: false, issues: [notPlain] }
    const { success, data, error } = tool.input.safeParse(input, inEnglish)
    // Zod creates the messages when the error is read, and then reads the input again.
    return success ? { success, data } : { success, issues: error.issues as readonly z.core.$ZodIssue[] }
  } catch {
    throw new ToolError('INVALID_INPUT', `Invalid input for ${tool.name}: it cannot be read`, { field: 'input' })
  }
}

/**
 * Returns one issue for each unknown field, also for those of a union's value, if one of its schemas accepts all other
 * fields. Other issues stay.
 */
function unknownFieldsOf(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      ...issue,
      keys: [key],
      message: 'is unknown',
    }))
  }
  if (issue.code !== 'invalid_union') return [issue]
  for (const [inner, ...others] of issue.errors) {
    const unknown = inner && others.length === 0 ? unknownFieldsOf(inner) : []
    if (unknown[0]?.code === 'unrecognized_keys')
      return unknown.map((one) => ({ ...one, path: [...issue.path, ...one.path] }))
  }
  return [issue]
}

function fieldOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys')
    return bounded(issue.keys.map((key) => [...issue.path, key].join('.')).join(', '))
  return issue.path.length === 0 ? 'input' : bounded(issue.path.map(String).join('.'))
}

/**
 * Names the field that an unknown one means: the one with a similar spelling, the only one that is missing, if the value is
 * valid for it, or one with a similar name.
 */
function meantField(issue: z.core.$ZodIssue, all: readonly z.core.$ZodIssue[], schema: ObjectSchema, input: unknown) {
  if (issue.code !== 'unrecognized_keys') return ''
  const [unknown = ''] = issue.keys
  const fields = fieldsAt(zodObject(schema), issue.path)
  const missing = all.length === 2 && all.find(({ message, path }) => message === 'is missing' && path.length === 1)
  if (missing && similarName(unknown, fields) === undefined) {
    const { [unknown]: value, ...rest } = input as Readonly<Record<string, unknown>>
    const field = missing.path[0] as string
    if (schema.safeParse({ ...rest, [field]: value }).success) return didYouMean(field, [field])
  }
  return didYouMean(unknown, fields)
}

/** Returns the fields that an object at a path of a schema can have. */
function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const [name, ...rest] = path
  if (isSchema(schema, '$ZodObject')) {
    const { shape, catchall } = schema._zod.def
    const inner = shape[String(name)] ?? catchall
    return name === undefined ? Object.keys(shape) : inner === undefined ? [] : fieldsAt(inner, rest)
  }
  if (isSchema(schema, '$ZodArray')) return fieldsAt(schema._zod.def.element, rest)
  if (isSchema(schema, '$ZodRecord')) return fieldsAt(schema._zod.def.valueType, rest)
  if (isSchema(schema, '$ZodTuple')) {
    const { items, rest: others } = schema._zod.def
    const item = items[Number(name)] ?? others
    return item ? fieldsAt(item, rest) : []
  }
  return innerSchemas(schema).flatMap((inner) => fieldsAt(inner, path))
}

/** Bounds the part of a message that the caller wrote, so that a refusal cannot carry a long text. */
function bounded(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

/** Returns the error for the name of a tool that does not exist. The hint names the nearest tool, and all of them. */
export function unknownTool(name: unknown, names: readonly string[]): ToolError {
  const text = String(name).slice(0, 100)
  const prefix = commonPrefix(names)
  const word = text.startsWith(prefix) ? text.slice(prefix.length) : text
  const words = names.map((known) => known.slice(prefix.length))
  const meant = meantTool(word, words)
  const nearest = meant === undefined ? nearestName(word, words) : meant
  // The prefix itself may be misspelled.
  const similar = nearest ? prefix + nearest : nearest === undefined && word === text && nearestName(text, names)
  const suggestion = similar ? `Did you mean "${similar}"? ` : ''
  return new ToolError('UNKNOWN_TOOL', `There is no tool ${JSON.stringify(text)} here`, {
    hint: `${suggestion}Use one of: ${names.join(', ')}.`,
  })
}

/** Returns the words that all names begin with, such as `mastra_workspace_`. They say nothing about which name is meant. */
function commonPrefix(names: readonly string[]): string {
  const [first = ''] = names
  let end = 0
  while (end < first.length && names.every((name) => name[end] === first[end])) end += 1
  return names.length < 2 ? '' : first.slice(0, end).replace(/(?<![^._])[^._]*$/, '')
}
