import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import type { Failure } from '../errors.ts'
import type { Success } from '../pipeline.ts'
import type { ToolDescription, Workspace, WorkspaceRun } from '../workspace.ts'
import { elicitApproval } from './elicit.ts'
import { toJsonSchema } from './json-schema.ts'

export interface McpServerOptions {
  /** Default: `wardspace`. */
  readonly name?: string
  readonly version?: string
  /** The run that the client's calls belong to. Default: the workspace's own. */
  readonly run?: WorkspaceRun
}

/**
 * A server of the Model Context Protocol over a workspace, with annotations, output schemas and structured results. It
 * speaks over whatever transport it is connected to. A refusal is a result with `isError`, its code and its hint as
 * text, and the whole of it under `_meta['wardspace/failure']`. What policy asks is asked at the client, by elicitation, where the
 * workspace has no `approve` of its own and the client can do that.
 *
 * @example
 * const server = createMcpServer(workspace)
 * await server.connect(new StdioServerTransport())
 */
export function createMcpServer(workspace: Workspace, options: McpServerOptions = {}): Server {
  const run = options.run ?? workspace
  const server = new Server(
    { name: options.name ?? 'wardspace', version: options.version ?? '0.1.0' },
    { capabilities: { tools: {} } },
  )
  const schemas = new Map(toJsonSchema(workspace.tools).map((tool) => [tool.name, tool]))
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: workspace.tools.map((tool) => ({
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema: { type: 'object' as const, ...schemas.get(tool.name)?.inputSchema },
      outputSchema: { type: 'object' as const, ...schemas.get(tool.name)?.outputSchema },
      annotations: annotationsOf(tool),
    })),
  }))
  const asking = () => {
    const approve = elicitApproval(server)
    return approve === undefined ? {} : { approve }
  }
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) =>
    toCallResult(await run.call(params.name, params.arguments ?? {}, { signal, ...asking() })),
  )
  return server
}

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

function toCallResult(result: Success | Failure): CallToolResult {
  if (result.ok)
    return { content: [text(JSON.stringify(result))], structuredContent: result as Record<string, unknown> }
  // Structured content would have to match the schema of a success; the whole refusal goes along as metadata.
  return { content: [text(explain(result))], isError: true, _meta: { 'wardspace/failure': result } }
}

/** A refusal as a model reads it: what, what to do next, and what helps with that. */
function explain({ ok, code, message, hint, ...details }: Failure): string {
  const more = Object.keys(details).length === 0 ? '' : `\n${JSON.stringify(details)}`
  return `${code}: ${message}\n${hint}${more}`
}

function text(words: string) {
  return { type: 'text' as const, text: words }
}
