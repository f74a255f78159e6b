import { didYouMean } from '../util/check-options.ts'
import { compileTexts } from './match.ts'
import type { PolicyData } from './schema.ts'

/** A tool as a policy may name it. */
export interface KnownTool {
  readonly name: string
  /** The input fields that a rule can match by `args`. */
  readonly fields: readonly string[]
}

/**
 * Requires that every tool and every input field that a policy names exists: a misspelled name would be a rule that never
 * matches.
 *
 * @throws TypeError that names the tool or field, where it stands, and the nearest known name
 */
export function requireKnownTools(data: PolicyData, tools: readonly KnownTool[]): void {
  const names = tools.map(({ name }) => name)
  for (const name of Object.keys(data.tools ?? {})) requireName(name, names, false, `tools.${name}`, 'in tools')
  for (const name of Object.keys(data.limits?.toolCallsPerMinute ?? {})) {
    requireName(name, names, false, `limits.toolCallsPerMinute.${name}`, 'in limits')
  }
  for (const [index, rule] of (data.rules ?? []).entries()) {
    const rulePlace = `in rule ${JSON.stringify(rule.name)}`
    for (const [position, pattern] of (rule.tools ?? []).entries()) {
      requireName(pattern, names, true, `rules[${index}].tools[${position}]`, rulePlace)
    }
    for (const name of Object.keys(rule.args ?? {})) {
      requireArgument(name, rule.tools, tools, `${rulePlace} (policy field "rules[${index}].args.${name}")`)
    }
  }
}

/**
 * Requires that each entry of `tools` of a rule has a tool with the argument: the rule would never match a call of the others.
 *
 * @param place where the argument stands, for the message
 */
function requireArgument(
  argument: string,
  patterns: readonly string[] | undefined,
  tools: readonly KnownTool[],
  place: string,
): void {
  const fieldsOf = (entries: readonly string[]) => {
    const matches = compileTexts(entries, 'tools')
    return new Set(tools.filter(({ name }) => matches(name)).flatMap(({ fields }) => fields))
  }
  const named = JSON.stringify(argument)
  const fields = fieldsOf(patterns ?? ['*'])
  if (!fields.has(argument)) {
    const owner = patterns?.join(', ') ?? 'any tool'
    throw new TypeError(
      `Unknown argument ${named} ${place}${didYouMean(argument, [...fields], `the fields of ${owner} are`)}`,
    )
  }
  const without = patterns?.find((pattern) => !fieldsOf([pattern]).has(argument))
  if (without !== undefined) {
    throw new TypeError(
      `Argument ${named} ${place} is no field of ${without}, so the rule would never match its calls; write a rule of its own for ${without}`,
    )
  }
}

function requireName(pattern: string, names: readonly string[], isGlob: boolean, field: string, place: string): void {
  if (isGlob ? names.some(compileTexts([pattern], field)) : names.includes(pattern)) return
  const isPattern = !isGlob && names.some(compileTexts([pattern], field))
  const help = isPattern
    ? `; only rules take patterns: use a rule with tools: [${JSON.stringify(pattern)}]`
    : didYouMean(pattern, names, 'the tools are')
  throw new TypeError(`Unknown tool ${JSON.stringify(pattern)} ${place} (policy field "${field}")${help}`)
}
