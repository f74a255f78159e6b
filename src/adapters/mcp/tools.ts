import type { CallOptions, Success } from '../../call/state/call.ts'
import { type DialectResult, isDialectResult } from '../../dialects/runtime/types.ts'
import type { Failure } from '../../errors.ts'
import type { ToolDescription } from '../../workspace/create-workspace.ts'
import { modelTools, toJsonSchema, toModelText } from '../json-schema/index.ts'
import { describedMedia, isImage, mediaOf } from '../model/media.ts'
import type { RequestOptions } from './call-options.ts'
import { inClientWords } from './client-words.ts'
import { openProgress } from './progress.ts'
import { requireNoCursor } from './protocol-errors.ts'
import type { CallToolResult, Server, Tool } from './sdk.ts'
import type { Served, ServedState } from './served-workspace.ts'
import { fileUri } from './uris.ts'

export interface ToolsOptions extends RequestOptions {
  /** Called with every result of the workspace's own tools. */
  readonly onResult: (result: Success | Failure) => void
}

/** Serves the list and the calls of the tools. */
export function serveTools(
  server: Server,
  serving: ServedState,
  { rounds, callOptions, onResult }: ToolsOptions,
): void {
  const activeTokens = new Set<string | number>()

  server.setRequestHandler('tools/list', ({ params }) => {
    requireNoCursor(params?.cursor)
    return serving.use((serves) => ({ tools: 'failure' in serves ? [] : listTools(serves) }))
  })

  server.setRequestHandler('tools/call', ({ params }, context) =>
    rounds.run(context, (request) =>
      serving.use(async (serves) => {
        if ('failure' in serves) return toCallResult(params.name, serves.failure)
        const progress = openProgress(request, activeTokens)
        try {
          const options = callOptions(request, () => progress.setStatus('waits for an approval'))
          const result = await serves.run.callTool(params.name, params.arguments ?? {}, {
            ...options,
            onProgress: progress.report,
          })
          if (isDialectResult(result)) return fromDialect(result)
          onResult(result)
          return toCallResult(params.name, result.ok ? result : inClientWords(result), options.media)
        } finally {
          progress.end()
        }
      }),
    ),
  )
}

function listTools({ workspace, run }: Served): Tool[] {
  const schemas = new Map(toJsonSchema(workspace.tools).map((tool) => [tool.name, tool.outputSchema]))
  const inputSchemas = new Map(modelTools(workspace.tools).map((tool) => [tool.name, tool.inputSchema]))
  return [...workspace.tools].map((tool) => {
    const outputSchema = withoutData(schemas.get(tool.name))
    return {
      name: tool.name,
      title: tool.title,
      // Refused tools are listed too, for clients that request the list only once.
      description: tool.mutates && run.mode === 'plan' ? `${AFTER_THE_PLAN} ${tool.description}` : tool.description,
      inputSchema: { type: 'object' as const, ...inputSchemas.get(tool.name) },
      ...(outputSchema === undefined ? {} : { outputSchema: { type: 'object' as const, ...outputSchema } }),
      annotations: 'dialect' in tool ? { title: tool.title, ...tool.annotations } : annotationsOf(tool),
    }
  })
}

/** Removes the data of media from a schema: the content of a result has them. */
function withoutData(schema: Record<string, unknown> | undefined) {
  const { media } = (schema?.properties ?? {}) as { media?: { properties?: { data?: unknown }; required?: string[] } }
  delete media?.properties?.data
  if (media?.required !== undefined) media.required = media.required.filter((field) => field !== 'data')
  return schema
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

/** Permissions that only add: no existing content is lost. */
const additive: ReadonlySet<string> = new Set(['file:write:create', 'file:append', 'file:copy'])

/** Returns the dialect's own result unchanged. */
function fromDialect({ isError, content, structuredContent, failure }: DialectResult): CallToolResult {
  return {
    content: [...content],
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(isError ? { isError } : {}),
    ...(failure === undefined ? {} : { _meta: { 'wardspace/failure': failure } }),
  }
}

/** Returns text and media for the model, and the result for programs, without the data of the media. */
function toCallResult(name: string, result: Success | Failure, taken?: CallOptions['media']): CallToolResult {
  const text = { type: 'text' as const, text: toModelText(name, result) }
  const media = mediaOf(result, taken)
  if (media.length > 0) {
    const { path, media: whole } = result as Success
    const blocks = media.map((one) => {
      const { mimeType, data } = one
      if (isImage(one)) return { type: 'image' as const, data, mimeType }
      return { type: 'resource' as const, resource: { uri: fileUri(String(path)), mimeType, blob: data } }
    })
    return { content: [text, ...blocks], structuredContent: { ...result, media: describedMedia(whole) } }
  }
  const content = [text]
  if (result.ok) return { content, structuredContent: result as Record<string, unknown> }
  // Structured content must match the schema of a success, so the refusal is metadata.
  return { content, isError: true, _meta: { 'wardspace/failure': result } }
}
