import * as z from 'zod'
import type { DialectToolInfo } from '../../dialects/runtime/types.ts'
import type { ToolDescription } from '../../workspace/create-workspace.ts'

/** A tool's contract as plain JSON Schema (draft 2020-12), for any model API or protocol. */
export interface JsonSchemaTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Record<string, unknown>
  /** Of a success; a dialect need not have any. */
  readonly outputSchema?: Record<string, unknown>
}

/**
 * The contracts of a workspace's tools as JSON Schema. The output schema is that of a success, and of a dialect's tool
 * what the original publishes.
 *
 * @example
 * const tools = toJsonSchema(workspace.tools)
 */
export function toJsonSchema(tools: readonly (ToolDescription | DialectToolInfo)[]): JsonSchemaTool[] {
  return tools.map((tool) => {
    const { name, description, inputSchema, outputSchema } = tool
    const input = convertedOnce(inputs, inputSchema, () => z.toJSONSchema(inputSchema, { io: 'input' }))
    if (outputSchema === undefined) return { name, description, inputSchema: input }
    const [known, whole] =
      'dialect' in tool ? [spoken, () => outputSchema] : [outputs, () => success.extend(outputSchema.shape)]
    return {
      name,
      description,
      inputSchema: input,
      outputSchema: convertedOnce(known, outputSchema, () => z.toJSONSchema(whole(), { io: 'output' })),
    }
  })
}

const success = z.object({
  ok: z.literal(true),
  summary: z.string(),
  warnings: z.array(z.string()),
  callId: z.string(),
  artifactUri: z.string().optional(),
})

type Converted = WeakMap<z.ZodType, Record<string, unknown>>

// A conversion takes longer than many a call, and each session of a server needs all of them.
const inputs: Converted = new WeakMap()
const outputs: Converted = new WeakMap()
const spoken: Converted = new WeakMap()

/** A copy for whoever asks. */
function convertedOnce(known: Converted, schema: z.ZodType, convert: () => Record<string, unknown>) {
  const done = known.get(schema) ?? plain(convert())
  known.set(schema, done)
  return structuredClone(done)
}

function plain(schema: Record<string, unknown>): Record<string, unknown> {
  const { $schema, ...rest } = schema
  // What a later version adds to a result is no breach of the contract.
  return rest.additionalProperties === false && rest.properties !== undefined && 'ok' in (rest.properties as object)
    ? { ...rest, additionalProperties: true }
    : rest
}
