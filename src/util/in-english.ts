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
  if (issue.input === undefined) return 'is missing'
  switch (issue.code) {
    case 'invalid_type':
      return mustBe([issue.expected], issue.input)
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_small':
      return sized(issue, issue.minimum, 'at least', 'more than')
    case 'too_big':
      return sized(issue, issue.maximum, 'at most', 'less than')
    case 'invalid_format': {
      const { pattern, prefix, suffix, includes, format } = issue as { readonly [K in string]?: unknown }
      return `must match ${format === 'regex' ? pattern : (prefix ?? suffix ?? includes ?? format)}`
    }
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
    case 'invalid_union': {
      // Forms that differ by their type.
      const types = issue.errors.map(
        ([first]) => first?.path.length === 0 && first.code === 'invalid_type' && first.expected,
      )
      return types.includes(false) ? 'has none of the possible forms' : mustBe(types as string[], issue.input)
    }
    default:
      return 'is not valid'
  }
}

const typeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}

function mustBe(types: readonly string[], input: unknown): string {
  return `must be ${types.map((type) => typeNames[type] ?? `a ${type}`).join(' or ')}, not ${nameOf(input)}`
}

function sized(
  { origin, exact, inclusive }: { readonly origin: string; readonly exact?: boolean; readonly inclusive?: boolean },
  limit: number | bigint,
  comparison: string,
  strictComparison: string,
): string {
  const unit = { string: 'character', array: 'item' }[origin]
  if (unit === undefined) return `must be ${inclusive === false ? strictComparison : comparison} ${limit}`
  if (comparison === 'at least' && limit === 1) return 'must not be empty'
  return `must have ${exact === true ? 'exactly' : comparison} ${counted(Number(limit), unit)}`
}
