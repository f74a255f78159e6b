import * as z from 'zod/mini'
import { nameOf } from './check-options.ts'
import { counted } from './counted.ts'

/**
 * Parses with messages in the words of the other refusals: each completes the name of a field, as "is missing" does. Another
 * language that the embedding program has configured wins.
 */
export const inEnglish: z.core.ParseContext<z.core.$ZodIssue> = {
  error: (issue) => (isEnglish() ? problemOf(issue) : undefined),
}

/** Whether no other language is configured. The import of `zod`, not of `zod/mini`, configures English. */
function isEnglish(): boolean {
  const { localeError } = z.config()
  const message = localeError?.({ code: 'invalid_type', expected: 'string', input: undefined })
  return message === undefined || message === 'Invalid input: expected string, received undefined'
}

/** Joins the name of a field and what is wrong with it. */
export function fieldProblem(field: string, problem: string): string {
  return /^(?:is|must|has) /.test(problem) ? `${field} ${problem}` : `${field}: ${problem}`
}

function problemOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return mustBe(typeName(issue.expected), issue.input)
    case 'invalid_value':
      return mustBe(issue.values.map((value) => JSON.stringify(value) ?? String(value)).join(' or '), issue.input)
    case 'too_small':
      return sized(issue, issue.minimum, issue.inclusive === false ? 'more than' : 'at least')
    case 'too_big':
      return sized(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most')
    case 'invalid_format':
      return formatProblem(issue)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
    case 'invalid_union':
      return unionProblem(issue)
    default:
      return 'is not valid'
  }
}

function mustBe(description: string, input: unknown): string {
  if (input === undefined) return 'is missing'
  return `must be ${description}${typeof input === 'string' && description.startsWith('"') ? '' : `, not ${nameOf(input)}`}`
}

const typeNames: Readonly<Record<string, string>> = {
  ...{ int: 'a whole number', boolean: 'true or false', array: 'a list', tuple: 'a list', object: 'an object' },
  ...{ record: 'an object', null: 'null', undefined: 'absent', never: 'absent' },
}

function typeName(type: string): string {
  return typeNames[type] ?? `a ${type}`
}

const units: Readonly<Record<string, string>> = {
  string: 'character',
  file: 'byte',
  array: 'item',
  set: 'item',
  map: 'item',
}

function sized(
  { origin, exact }: { readonly origin: string; readonly exact?: boolean },
  limit: number | bigint,
  comparison: string,
): string {
  const unit = units[origin]
  if (unit === undefined) return `must be ${comparison} ${limit}`
  if (comparison === 'at least' && Number(limit) === 1) return 'must not be empty'
  return `must have ${exact === true ? 'exactly' : comparison} ${counted(Number(limit), unit)}`
}

function formatProblem(issue: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidStringFormat>): string {
  const { format, pattern, prefix, suffix, includes } = issue as { readonly [K in string]?: string }
  if (prefix !== undefined) return `must start with ${JSON.stringify(prefix)}`
  if (suffix !== undefined) return `must end with ${JSON.stringify(suffix)}`
  if (includes !== undefined) return `must contain ${JSON.stringify(includes)}`
  return format === 'regex' ? `must match the pattern ${pattern}` : `must be a valid ${format}`
}

/** Of forms that differ by their type, names the types. */
function unionProblem({ errors, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  const types = errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? first.expected : '',
  )
  if (types.length > 0 && !types.includes('')) return mustBe([...new Set(types.map(typeName))].join(' or '), input)
  return input === undefined ? 'is missing' : 'has none of the possible forms'
}
