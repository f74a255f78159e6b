import * as z from 'zod/mini'
import type { DialectToolInfo } from '../../dialects/runtime/types.ts'
import { checkArgument, refuseSurplus } from '../../util/check-options.ts'
import { metadataOf, zodObject } from '../../util/object-schema.ts'
import type { ToolDescription } from '../../workspace/create-workspace.ts'
import { isToolList } from './select-tools.ts'

/** A tool's contract as plain JSON Schema (draft 2020-12), for any model API or protocol. */
export interface JsonSchemaTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Record<string, unknown>
  /** Schema of a success. Missing if a dialect has none. */
  readonly outputSchema?: Record<string, unknown>
}

/**
 * Converts the contracts of a workspace's tools to JSON Schema. The output schema describes a success; for a tool of a dialect it
 * is the schema that the original publishes.
 *
 * @example
 * const tools = toJsonSchema(workspace.tools)
 */
export function toJsonSchema(tools: readonly (ToolDescription | DialectToolInfo)[]): JsonSchemaTool[] {
  refuseSurplus('toJsonSchema()', 1, arguments)
  checkArgument('toJsonSchema()', 'tools', tools, isToolList)
  return tools.map((tool) => {
    const { name, description } = tool
    const inputSchema = zodObject(tool.inputSchema)
    const input = convertOnce(inputs, inputSchema, () => z.core.toJSONSchema(inputSchema, { io: 'input', metadata }))
    if (!tool.outputSchema) return { name, description, inputSchema: input }
    const outputSchema = zodObject(tool.outputSchema)
    const [cache, whole] =
      'dialect' in tool
        ? [dialectOutputs, () => outputSchema]
        : [outputs, () => z.extend(success, outputSchema._zod.def.shape)]
    return {
      name,
      description,
      inputSchema: input,
      outputSchema: convertOnce(cache, outputSchema, () => z.core.toJSONSchema(whole(), { io: 'output', metadata })),
    }
  })
}

/** A registry with the descriptions of schemas of any copy of Zod. */
const metadata = Object.assign(z.registry<z.core.GlobalMeta>(), { get: metadataOf })

const success = z.object({
  ok: z.literal(true),
  summary: z.string(),
  warnings: z.array(z.string()),
  callId: z.string(),
  artifactUri: z.optional(z.string()),
})

type SchemaCache = WeakMap<z.core.$ZodType, Record<string, unknown>>

// A conversion takes longer than many calls, and each session of a server needs all of them.
const inputs: SchemaCache = new WeakMap()
const outputs: SchemaCache = new WeakMap()
const dialectOutputs: SchemaCache = new WeakMap()

/** Converts a schema once. Returns a new copy each time, because callers may change it. */
function convertOnce(cache: SchemaCache, schema: z.core.$ZodType, convert: () => Record<string, unknown>) {
  const converted = cache.get(schema) ?? plain(convert())
  cache.set(schema, converted)
  return structuredClone(converted)
}

function plain(schema: Record<string, unknown>): Record<string, unknown> {
  const { $schema, ...rest } = schema
  // A later version may add fields to a result.
  return rest.additionalProperties === false && rest.properties && 'ok' in (rest.properties as object)
    ? { ...rest, additionalProperties: true }
    : rest
}
