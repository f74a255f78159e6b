import type { DialectToolInfo } from '../../dialects/runtime/types.ts'
import { checkArgument, refuseSurplus } from '../../util/check-options.ts'
import type { ToolDescription } from '../../workspace/create-workspace.ts'
import { isToolList } from './select-tools.ts'
import { toJsonSchema } from './tool-schema.ts'

/** The definition of a tool for a model. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: { readonly type: 'object'; readonly [keyword: string]: unknown }
}

/**
 * Returns the tools of a workspace in as few tokens as a model needs: the schemas of `toJsonSchema` without bounds and patterns, and
 * with a description that several tools share only where it occurs first. A refusal reports a violated bound. The workspace checks
 * every input against the complete contract. The tools of a dialect are returned as the original publishes them.
 *
 * @example
 * const definitions = modelTools(workspace.tools)
 */
export function modelTools(tools: readonly (ToolDescription | DialectToolInfo)[]): ModelTool[] {
  refuseSurplus('modelTools()', 1, arguments)
  checkArgument('modelTools()', 'tools', tools, isToolList)
  const seenDescriptions = new Set<string>()
  return toJsonSchema(tools).map(({ name, description, inputSchema }, index) => ({
    name,
    description,
    inputSchema: {
      ...('dialect' in (tools[index] as object) ? inputSchema : compact(inputSchema, seenDescriptions)),
      type: 'object',
    },
  }))
}

type Schema = Readonly<Record<string, unknown>>

/** Keywords that restrict a value without describing it. */
const bounds = /^(?:m(?:in|ax)(?:Length|Items|imum)|pattern|propertyNames)$/

/** @param seenDescriptions the descriptions so far, with the names of their fields */
function compact(schema: Schema, seenDescriptions: Set<string>): Record<string, unknown> {
  const { anyOf, properties, items, additionalProperties, default: defaultValue, ...rest } = schema
  const result: Record<string, unknown> = {
    // `anyOf` with null becomes a list of types.
    ...(Array.isArray(anyOf) && { type: (anyOf as Schema[]).map(({ type }) => type) }),
    ...Object.fromEntries(Object.entries(rest).filter(([keyword]) => !bounds.test(keyword))),
  }
  // A missing flag means false and a missing number none, so these defaults are left out.
  if (defaultValue !== undefined && defaultValue !== false && defaultValue !== 0) result.default = defaultValue
  if (properties) result.properties = describeOnce(properties as Readonly<Record<string, Schema>>, seenDescriptions)
  if (items !== undefined) result.items = compact(items as Schema, seenDescriptions)
  if (typeof additionalProperties === 'object')
    result.additionalProperties = compact(additionalProperties as Schema, seenDescriptions)
  return result
}

function describeOnce(
  properties: Readonly<Record<string, Schema>>,
  seenDescriptions: Set<string>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => {
      const { description, ...field } = compact(property, seenDescriptions)
      const signature = `${name}: ${description}`
      const isNew = description !== undefined && !seenDescriptions.has(signature)
      seenDescriptions.add(signature)
      return [name, isNew ? { description, ...field } : field]
    }),
  )
}
