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
    const matches = rule.tools === undefined ? () => true : compileTexts(rule.tools, `rules[${index}].tools`)
    const fields = new Set(tools.filter(({ name }) => matches(name)).flatMap((tool) => tool.fields))
    for (const name of Object.keys(rule.args ?? {})) {
      if (fields.has(name)) continue
      const owner = rule.tools === undefined ? 'any tool' : rule.tools.join(', ')
      throw new TypeError(
        `Unknown argument ${JSON.stringify(name)} ${rulePlace} (policy field "rules[${index}].args.${name}")${didYouMean(name, [...fields], `the fields of ${owner} are`)}`,
      )
    }
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
