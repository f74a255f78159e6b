import { didYouMean } from '../util/check-options.ts'
import { meantTool } from '../util/tool-meanings.ts'
import { type DeclaredRoots, placePattern } from './absolute-patterns.ts'
import { compileTexts, dialectPathFields } from './match.ts'
import { checkGlob } from './path-patterns.ts'
import type { PolicyData } from './schema.ts'

/** A tool as a policy may name it. */
export interface KnownTool {
  readonly name: string
  /** The input fields that a rule can match by `args`. */
  readonly fields: readonly string[]
  /** Whether messages list it: an operation of the workspace, or a tool that the dialect has under other names, is not listed. */
  readonly isListed: boolean
  /** Whether it is a tool of the dialect. */
  readonly isOfDialect: boolean
}

/**
 * Requires that every tool and every input field that a policy names exists: a misspelled name would be a rule that never
 * matches.
 *
 * @param roots the declared roots of absolute patterns
 * @throws TypeError that names the tool or field, where it stands, and the nearest known name
 */
export function requireKnownTools(data: PolicyData, tools: readonly KnownTool[], roots: DeclaredRoots = {}): void {
  for (const name of Object.keys(data.tools ?? {})) requireName(name, tools, false, `tools.${name}`, 'in tools')
  for (const name of Object.keys(data.limits?.toolCallsPerMinute ?? {})) {
    requireName(name, tools, false, `limits.toolCallsPerMinute.${name}`, 'in limits')
  }
  for (const [index, rule] of (data.rules ?? []).entries()) {
    const rulePlace = `in rule ${JSON.stringify(rule.name)}`
    for (const [position, pattern] of (rule.tools ?? []).entries()) {
      requireName(pattern, tools, true, `rules[${index}].tools[${position}]`, rulePlace)
    }
    for (const name of Object.keys(rule.args ?? {})) {
      const field = `rules[${index}].args.${name}`
      requireArgument(name, rule.tools, tools, `${rulePlace} (policy field "${field}")`)
      if (isPathOfDialect(name, rule.tools, tools)) requirePaths(rule.args?.[name] ?? [], field, roots)
    }
  }
}

/** Whether an argument of a rule is a field of dialects' tools that contains a path. */
function isPathOfDialect(
  argument: string,
  patterns: readonly string[] | undefined,
  tools: readonly KnownTool[],
): boolean {
  if (!dialectPathFields.has(argument)) return false
  const matches = compileTexts(patterns ?? ['*'], 'tools')
  const owners = tools.filter(({ name, fields }) => matches(name) && fields.includes(argument))
  return owners.every(({ isOfDialect }) => isOfDialect)
}

/** @throws TypeError for a pattern that can match no path of the workspace */
function requirePaths(patterns: readonly string[], field: string, roots: DeclaredRoots): void {
  for (const [index, pattern] of patterns.entries()) {
    const name = `${field}[${index}]`
    for (const placed of placePattern(pattern, name, roots, new Set())) checkGlob(placed, name)
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

function requireName(
  pattern: string,
  tools: readonly KnownTool[],
  isGlob: boolean,
  field: string,
  place: string,
): void {
  const names = tools.map(({ name }) => name)
  if (isGlob ? names.some(compileTexts([pattern], field)) : names.includes(pattern)) return
  throw new TypeError(
    `Unknown tool ${JSON.stringify(pattern)} ${place} (policy field "${field}")${helpFor(pattern, tools, isGlob, field)}`,
  )
}

/** Returns what is meant by an unknown name or pattern of tools, as the end of a message. */
function helpFor(pattern: string, tools: readonly KnownTool[], isGlob: boolean, field: string): string {
  const names = tools.map(({ name }) => name)
  if (!isGlob && names.some(compileTexts([pattern], field)))
    return `; only rules take patterns: use a rule with tools: [${JSON.stringify(pattern)}]`
  if (!isGlob && /^file(?:_?ops)?$/i.test(pattern))
    return '; the section of this name is an object with "enabled" and "allowed_paths"'
  const other = meantTool(pattern, names)
  if (other) return `; did you mean ${JSON.stringify(other)}?`
  const candidates = pattern.includes('*') ? names.flatMap(patternsOf) : names
  const listed = new Set(tools.flatMap(({ name, isListed }) => (isListed ? [name] : [])))
  return didYouMean(pattern, [...new Set(candidates)]) || `; the tools are ${[...listed].join(', ')}`
}

/** Returns the patterns of the tools whose name begins or ends as this one: `file_*` and `*_read` for `file_read`. */
function patternsOf(name: string): readonly string[] {
  const start = name.indexOf('_')
  return start === -1 ? [] : [`${name.slice(0, start)}_*`, `*${name.slice(name.lastIndexOf('_'))}`]
}
