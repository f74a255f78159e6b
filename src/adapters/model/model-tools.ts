import type { DialectToolInfo } from '../../dialects/runtime/types.ts'
import type { ToolDescription } from '../../workspace/create-workspace.ts'
import { toJsonSchema } from './tool-schema.ts'

/** A tool as a model is told of it. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown }
}

/**
 * The tools of a workspace in as few tokens as a model needs: the schemas of `toJsonSchema` without bounds and patterns,
 * which a refusal tells when they matter, and with what several tools share described where it first stands. The workspace
 * judges every input by its whole contract all the same. The tools of a dialect are told as the original publishes them.
 *
 * @example
 * const definitions = modelTools(workspace.tools)
 */
export function modelTools(tools: readonly (ToolDescription | DialectToolInfo)[]): ModelTool[] {
  const said = new Set<string>()
  const dialect = new Set(tools.filter((tool) => 'dialect' in tool).map(({ name }) => name))
  return toJsonSchema(tools).map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema: { ...(dialect.has(name) ? inputSchema : compact(inputSchema, said)), type: 'object' },
  }))
}

type Schema = Readonly<Record<string, unknown>>

/** What restricts a value without telling what it is for. */
const bounds: ReadonlySet<string> = new Set([
  ...['minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'minItems', 'maxItems', 'propertyNames'],
])

/** @param said the descriptions so far, with the names of their fields */
function compact(schema: Schema, said: Set<string>): Record<string, unknown> {
  const { anyOf, properties, items, additionalProperties, default: usual, ...rest } = schema
  const kept: Record<string, unknown> = {
    ...(Array.isArray(anyOf) ? nullable(anyOf as Schema[]) : {}),
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => !bounds.has(keyword))),
  }
  // What is absent is false.
  if (usual !== undefined && usual !== false) kept.default = usual
  if (properties !== undefined) kept.properties = described(properties as Readonly<Record<string, Schema>>, said)
  if (items !== undefined) kept.items = compact(items as Schema, said)
  if (typeof additionalProperties === 'object')
    kept.additionalProperties = compact(additionalProperties as Schema, said)
  return kept
}

function described(properties: Readonly<Record<string, Schema>>, said: Set<string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { description, ...field } = compact(property, said)
      const isNew = description !== undefined && !said.has(`${name}: ${description}`)
      said.add(`${name}: ${description}`)
      return [name, isNew ? { description, ...field } : field]
    }),
  )
}

/** What may be null, as one type. */
function nullable([first, ...others]: readonly Schema[]): Record<string, unknown> {
  return { type: [first?.type, ...others.map(({ type }) => type)] }
}
