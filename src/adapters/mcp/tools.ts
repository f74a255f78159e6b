import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  type Tool,
} from '@modelcontextprotocol/sdk/types.js'
import type { Failure } from '../../errors.ts'
import type { Success } from '../../pipeline.ts'
import type { ToolDescription } from '../../workspace.ts'
import { modelTools, projected, toJsonSchema } from '../json-schema.ts'
import { elicitApproval } from './elicit.ts'
import { openProgress } from './progress.ts'
import type { Served, Serving } from './served.ts'

export interface ToolsOptions {
  readonly approvalTimeoutMs: number
  /** Told of every result. */
  readonly answered: (name: string, result: Success | Failure) => void
}

/** Lists and calls the tools of what is served. */
export function serveTools(server: Server, serving: Serving, { approvalTimeoutMs, answered }: ToolsOptions): void {
  const tokens = new Set<string | number>()

  server.setRequestHandler(ListToolsRequestSchema, () =>
    serving.use((serves) => ({ tools: 'failure' in serves ? [] : listed(serves) })),
  )

  server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
    serving.use(async (serves) => {
      if ('failure' in serves) return toCallResult(params.name, serves.failure)
      const progress = openProgress(extra, tokens)
      const approve = elicitApproval(server, {
        requestId: extra.requestId,
        timeoutMs: approvalTimeoutMs,
        waits: () => progress.says('waits for an approval'),
      })
      try {
        const result = await serves.run.call(params.name, params.arguments ?? {}, {
          signal: extra.signal,
          onProgress: progress.tell,
          ...(approve === undefined ? {} : { approve }),
        })
        answered(params.name, result)
        return toCallResult(params.name, result)
      } finally {
        progress.end()
      }
    }),
  )
}

function listed({ workspace, run }: Served): Tool[] {
  const schemas = new Map(toJsonSchema(workspace.tools).map((tool) => [tool.name, tool]))
  const told = new Map(modelTools(workspace.tools).map((tool) => [tool.name, tool]))
  return workspace.tools.map((tool) => ({
    name: tool.name,
    title: tool.title,
    // Listed all the same, for clients that never ask again.
    description: tool.mutates && run.mode === 'plan' ? `${AFTER_THE_PLAN} ${tool.description}` : tool.description,
    inputSchema: { type: 'object' as const, ...told.get(tool.name)?.inputSchema },
    outputSchema: { type: 'object' as const, ...schemas.get(tool.name)?.outputSchema },
    annotations: annotationsOf(tool),
  }))
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

/** The text is what a model needs; a program has the whole result. */
function toCallResult(name: string, result: Success | Failure): CallToolResult {
  const content = [text(projected(name, result))]
  if (result.ok) return { content, structuredContent: result as Record<string, unknown> }
  // Structured content would have to match the schema of a success; the whole refusal goes along as metadata.
  return { content, isError: true, _meta: { 'wardspace/failure': result } }
}

function text(words: string) {
  return { type: 'text' as const, text: words }
}
