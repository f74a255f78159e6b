import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import type { Success } from '../../call/state/call.ts'
import { type DialectResult, isDialectResult } from '../../dialects/runtime/types.ts'
import type { Failure } from '../../errors.ts'
import type { ToolDescription } from '../../workspace/create-workspace.ts'
import { modelTools, toJsonSchema, toModelText } from '../json-schema/index.ts'
import type { Asking } from './call-options.ts'
import { openProgress } from './progress.ts'
import type { Served, ServedState } from './served-workspace.ts'

export interface ToolsOptions {
  readonly asking: Asking
  /** Told of every result of the workspace's own tools. */
  readonly answered: (result: Success | Failure) => void
}

/** Lists and calls the tools of what is served. */
export function serveTools(server: Server, serving: ServedState, { asking, answered }: ToolsOptions): void {
  const tokens = new Set<string | number>()

  server.setRequestHandler(ListToolsRequestSchema, () =>
    serving.use((serves) => ({ tools: 'failure' in serves ? [] : listed(serves) })),
  )

  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    serving.use(async (serves) => {
      if ('failure' in serves) return toCallResult(params.name, serves.failure)
      const progress = openProgress(extra, tokens)
      try {
        const result = await serves.run.callTool(params.name, params.arguments ?? {}, {
          ...asking(extra, () => progress.says('waits for an approval')),
          onProgress: progress.tell,
        })
        if (isDialectResult(result)) return fromDialect(result)
        answered(result)
        return toCallResult(params.name, result)
      } finally {
        progress.end()
      }
    }),
  )
}

function listed({ workspace, run }: Served): Tool[] {
  const schemas = new Map(toJsonSchema(workspace.tools).map((tool) => [tool.name, tool.outputSchema]))
  const told = new Map(modelTools(workspace.tools).map((tool) => [tool.name, tool.inputSchema]))
  return [...workspace.tools].map((tool) => {
    const outputSchema = schemas.get(tool.name)
    return {
      name: tool.name,
      title: tool.title,
      // Listed all the same, for clients that never ask again.
      description: tool.mutates && run.mode === 'plan' ? `${AFTER_THE_PLAN} ${tool.description}` : tool.description,
      inputSchema: { type: 'object' as const, ...told.get(tool.name) },
      ...(outputSchema === undefined ? {} : { outputSchema: { type: 'object' as const, ...outputSchema } }),
      annotations: 'dialect' in tool ? { title: tool.title, ...tool.annotations } : annotationsOf(tool),
    }
  })
}

const AFTER_THE_PLAN = '(Refused until the plan is approved.)'

function annotationsOf(tool: ToolDescription) {
  return {
    title: tool.title,
    readOnlyHint: !tool.mutates,
    destructiveHint: tool.mutates && !additive.has(tool.permission),
    idempotentHint: !tool.mutates || tool.idempotent,
    openWorldHint: false,
  }
}

/** What only adds: nothing that was there is lost by it. */
const additive: ReadonlySet<string> = new Set(['file:write:create', 'file:append', 'file:copy'])

/** In the dialect's own form, word for word. */
function fromDialect({ isError, content, structuredContent, failure }: DialectResult): CallToolResult {
  return {
    content: [...content],
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError ? { isError } : {}),
    ...(failure === undefined ? {} : { _meta: { 'wardspace/failure': failure } }),
  }
}

/** The text is what a model needs; a program has the whole result. */
function toCallResult(name: string, result: Success | Failure): CallToolResult {
  const content = [{ type: 'text' as const, text: toModelText(name, result) }]
  if (result.ok) return { content, structuredContent: result as Record<string, unknown> }
  // Structured content would have to match the schema of a success; the whole refusal goes along as metadata.
  return { content, isError: true, _meta: { 'wardspace/failure': result } }
}
