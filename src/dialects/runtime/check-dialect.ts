import { errorHints } from '../../errors.ts'
import { defaultLimits } from '../../limits.ts'
import { checkFields, type FieldCheck, flag, list, method, schema, text } from '../../tools/check-tool.ts'
import type { Tool } from '../../tools/define-tool.ts'
import { didYouMean } from '../../util/check-options.ts'
import { wordDistance } from '../../util/nearest-name.ts'
import { fieldNamesOf } from '../../util/strict-schema.ts'
import type { PathMapping } from './path-mapping.ts'
import type { Dialect, DialectTool, ToolAnnotations } from './types.ts'

const object: FieldCheck = {
  expected: 'an object',
  matches: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
}

function optional(check: FieldCheck): FieldCheck {
  return { ...check, isOptional: true }
}

const dialectFields: Readonly<Record<keyof Dialect, FieldCheck>> = {
  name: text,
  description: text,
  pathMapping: {
    expected: 'a mapping of createPathMapping()',
    matches: (value) => object.matches(value) && Array.isArray((value as Partial<PathMapping>).roots),
  },
  tools: list,
  createState: optional(method),
  hints: optional(object),
  fields: optional(object),
  versions: optional(flag),
  formatError: method,
}

const toolFields: Readonly<Record<keyof DialectTool, FieldCheck>> = {
  name: text,
  title: optional(text),
  description: text,
  input: schema,
  output: optional(schema),
  annotations: optional(object),
  uses: { ...list, expected: 'a list of tool names' },
  mayUse: optional(list),
  narrows: optional(list),
  limits: optional(object),
  native: optional(object),
  formerNames: optional(list),
  normalizeInput: optional(method),
  steps: method,
}

const annotationFields: Readonly<Record<keyof ToolAnnotations, FieldCheck>> = {
  readOnlyHint: optional(flag),
  destructiveHint: optional(flag),
  idempotentHint: optional(flag),
  openWorldHint: optional(flag),
}

const hintFields = Object.fromEntries(Object.keys(errorHints).map((code) => [code, optional(text)]))

type KnownTool = Pick<Tool, 'name' | 'mutates' | 'input'>

/**
 * Checks the definition of a dialect. Its tools must misspell no name of a tool: such a name would make a tool vanish,
 * because a dialect omits tools that the workspace cannot serve. A name that resembles none is that of an own tool which this
 * workspace does not have.
 *
 * @param tools the built-in tools and the own tools of the workspace, also those that it does not register
 * @throws TypeError with the tool, the field and the nearest name
 */
export function checkDialect(dialect: Dialect, tools: readonly KnownTool[]): void {
  const owner = `the dialect ${JSON.stringify(dialect.name)}`
  checkFields(dialect, dialectFields, `T${owner.slice(1)}`)
  const names = new Set<string>()
  for (const [index, tool] of dialect.tools.entries()) {
    if (!object.matches(tool)) throw new TypeError(`tools[${index}] of ${owner} must be an object`)
    const name = typeof tool.name === 'string' ? `Tool ${JSON.stringify(tool.name)}` : `tools[${index}]`
    checkDialectTool(tool, tools, `${name} of ${owner}`)
    for (const toolName of [tool.name, ...(tool.formerNames ?? [])]) {
      if (names.has(toolName)) throw new TypeError(`Two tools of ${owner} have the name ${JSON.stringify(toolName)}`)
      names.add(toolName)
    }
  }
  checkFields(dialect.hints ?? {}, hintFields, `"hints" of ${owner}`)
  checkFieldNames(dialect, tools, `"fields" of ${owner}`)
}

/** Checks that the keys of `fields` are fields of the workspace's tools. Those of a tool that is not known are not known either. */
function checkFieldNames(dialect: Dialect, tools: readonly KnownTool[], label: string): void {
  const names = [...new Set(tools.flatMap(({ input }) => [...fieldNamesOf(input)]))]
  const hasUnknownTools = dialect.tools
    .flatMap(({ uses, mayUse = [], narrows = [] }) => [...uses, ...mayUse, ...narrows])
    .some((toolName) => !tools.some(({ name }) => name === toolName))
  for (const [field, spelling] of Object.entries(dialect.fields ?? {})) {
    if (typeof spelling !== 'string') throw new TypeError(`${label}: ${JSON.stringify(field)} must be a string`)
    if (names.includes(field)) continue
    const help = didYouMean(field, names)
    if (help === '' && hasUnknownTools) continue
    throw new TypeError(`${label} has an unknown field ${JSON.stringify(field)}${help}`)
  }
}

/** Checks that `limits` maps fields of the input to limits of a workspace. */
function checkLimits({ input, limits = {} }: DialectTool, label: string): void {
  for (const [field, source] of Object.entries(limits)) {
    if (!Object.hasOwn(input.shape, field)) {
      throw new TypeError(
        `${label}: "limits" names the unknown field ${JSON.stringify(field)}${didYouMean(field, Object.keys(input.shape), 'the fields are')}`,
      )
    }
    const [limit, factor] = Array.isArray(source) ? source : [source, 1]
    if (typeof limit !== 'string' || !Object.hasOwn(defaultLimits, limit)) {
      throw new TypeError(
        `${label}: "limits" names the unknown limit ${JSON.stringify(limit)}${didYouMean(String(limit), Object.keys(defaultLimits), 'the limits are')}`,
      )
    }
    if (typeof factor !== 'number' || !(factor > 0)) {
      throw new TypeError(`${label}: "limits" must give ${JSON.stringify(field)} a positive factor`)
    }
  }
}

/** Returns the end of a message with the nearest tool, for a misspelled name or a misspelled first word of it. */
function nearestTool(misspelled: string, names: readonly string[]): string {
  const help = didYouMean(misspelled, names)
  if (help !== '') return help
  const near = names.find((name) => wordDistance(misspelled, name.split('_')[0] ?? '', 1) < 2)
  return near === undefined ? '' : `; did you mean ${JSON.stringify(near)}?`
}

function checkDialectTool(tool: DialectTool, tools: readonly KnownTool[], label: string): void {
  checkFields(tool, toolFields, label)
  const { uses, mayUse = [], narrows = [], annotations = {} } = tool
  const toolNames = tools.map(({ name }) => name)
  for (const [field, names] of Object.entries({ uses, mayUse, narrows })) {
    for (const toolName of names) {
      const help = toolNames.includes(toolName) ? '' : nearestTool(String(toolName), toolNames)
      if (help !== '')
        throw new TypeError(`${label}: "${field}" names the unknown tool ${JSON.stringify(toolName)}${help}`)
    }
  }
  checkFields(annotations, annotationFields, `${label}: "annotations"`)
  checkLimits(tool, label)
  const usableTools = new Set<string>([...uses, ...mayUse])
  const changing = tools.find(({ name, mutates }) => mutates && usableTools.has(name))
  if (annotations.readOnlyHint === true && changing !== undefined) {
    throw new TypeError(`${label}: "readOnlyHint" is true, but it uses ${changing.name}, which changes files`)
  }
}
