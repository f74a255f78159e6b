import * as z from 'zod'
import type { SpokenTool } from '../../dialect.ts'
import type { ToolDescription } from '../../workspace.ts'

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
export function toJsonSchema(tools: readonly (ToolDescription | SpokenTool)[]): JsonSchemaTool[] {
  return tools.map((tool) => {
    const output = 'dialect' in tool ? tool.outputSchema : success.extend(tool.outputSchema.shape)
    return {
      name: tool.name,
      description: tool.description,
      inputSchema: plain(z.toJSONSchema(tool.inputSchema, { io: 'input' })),
      ...(output === undefined ? {} : { outputSchema: plain(z.toJSONSchema(output, { io: 'output' })) }),
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

function plain(schema: Record<string, unknown>): Record<string, unknown> {
  const { $schema, ...rest } = schema
  // What a later version adds to a result is no breach of the contract.
  return rest.additionalProperties === false && rest.properties !== undefined && 'ok' in (rest.properties as object)
    ? { ...rest, additionalProperties: true }
    : rest
}
