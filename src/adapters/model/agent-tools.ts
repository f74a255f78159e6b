import { isDialectResult } from '../../dialects/runtime/types.ts'
import { checkOptions, isOneOf } from '../../util/check-options.ts'
import { approvalsOf, approvalTable, type PendingCall } from './framework-approvals.ts'
import { isImage, type MediaOptions, mediaCheck, mediaOf, takenTypes } from './media.ts'
import { modelTools } from './model-tools.ts'
import { resultToText } from './result-text.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type CallResult,
  callOptionsOf,
  type OfferOptions,
  offerTable,
  selectTools,
} from './select-tools.ts'

/** Run, tools, approval handler and form of the results. */
export interface AgentToolOptions extends OfferOptions, MediaOptions {
  /**
   * What the model receives: the text of `toModelText`, in the fewest tokens, or the whole result as JSON, for example for a scripted
   * model that reads its fields. The program receives the whole result in both cases. Default: `text`.
   */
  readonly results?: 'text' | 'json'
  /**
   * Who asks for approvals: `approve` of the workspace or of these options, or the framework in its own flow. Then the workspace
   * must have no `approve`. A call is made when the framework asks about it, and waits there if it needs an approval; an answer
   * counts for the call with its id alone, in the process that asked. Default: `workspace`.
   */
  readonly approvals?: 'workspace' | 'framework'
  /** Receives each call about which the framework asks, for example to show the change. Needs `approvals: 'framework'`. */
  readonly onPending?: (pending: PendingCall) => void
}

/** A tool in the form that the AI SDK and Mastra have in common. */
export interface AgentTool {
  readonly title?: string | undefined
  readonly description: string
  /** A Standard Schema that accepts everything, because the workspace validates the input. */
  readonly inputSchema: unknown
  /** Runs a call, and resolves to its complete result. */
  execute(input: unknown, context: AgentToolContext): Promise<Record<string, unknown>>
  /** Whether the framework has to ask a person. Only with `approvals: 'framework'`. */
  needsApproval?(input: unknown, context: AskContext): Promise<boolean>
  /** Returns what the model receives, from the result or from an object that contains it. */
  toModelOutput(result: CallResult | { readonly output: unknown }): AgentToolOutput
}

/** The call that a framework runs. */
export interface AgentToolContext {
  readonly toolCallId: string
  readonly abortSignal?: AbortSignal
  /** Of Mastra: suspends the call, and what it continues with. */
  readonly agent?: {
    readonly toolCallId?: string
    /** Ends the call for now; it is executed again with the answer. */
    readonly suspend?: (pending: unknown) => unknown
    readonly resumeData?: unknown
  }
}

/** The call that a framework may have to ask about, and the messages before it. */
export interface AskContext {
  readonly toolCallId: string
  readonly messages?: readonly unknown[]
}

/** What a model receives for a call. A refusal is an error, for models that distinguish errors. Media are `content`. */
export interface AgentToolOutput {
  readonly type: 'text' | 'json' | 'error-text' | 'error-json' | 'content'
  readonly value: unknown
}

/** Returns the tools of a workspace by name. */
export function agentTools(
  owner: string,
  workspace: CallableTools | CallableDialectTools,
  requested?: AgentToolOptions,
  flow: 'asks before' | 'suspends' = 'asks before',
): Record<string, AgentTool> {
  const table = { ...offerTable, results: isOneOf('text', 'json'), ...approvalTable, ...mediaCheck() }
  const checked = checkOptions<AgentToolOptions>(owner, requested, table)
  const options = { ...checked, ...takenTypes(checked.media) }
  const { run = workspace, results = 'text', onPending } = options
  const asking = approvalsOf(owner, workspace, options)
  const described = selectTools(owner, workspace, options)
  const titles = new Map(described.map(({ name, title }) => [name, { title }]))
  return Object.fromEntries(
    modelTools(described).map(({ name, description, inputSchema }) => {
      const tool: AgentTool = {
        ...titles.get(name),
        description,
        inputSchema: schemaOf(inputSchema),
        async execute(input, context) {
          const { toolCallId: id, abortSignal: signal } = context
          if (asking === undefined) return plain(await run.callTool(name, input, callOptionsOf(options, id, signal)))
          const call = { id, name, input, signal }
          const suspend = async (pending: PendingCall) => {
            const { agent } = context
            if (agent?.resumeData !== undefined) return agent.resumeData
            onPending?.(pending)
            return agent?.suspend?.(pending)
          }
          return plain(await (flow === 'suspends' ? asking.callAsking(call, suspend) : asking.finish(call)))
        },
        ...(asking !== undefined &&
          flow === 'asks before' && {
            async needsApproval(input: unknown, { toolCallId: id, messages }: AskContext) {
              const pending = await asking.ask({ id, name, input }, wasAsked(messages, id))
              if (pending !== undefined) onPending?.(pending)
              return pending !== undefined
            },
          }),
        toModelOutput: (result) => modelOutput(name, resultIn(result), results, options.media, flow),
      }
      return [name, tool]
    }),
  )
}

/** Whether the messages contain a request for the approval of a call. */
function wasAsked(messages: readonly unknown[] = [], id: string): boolean {
  const parts = messages.flatMap((message) => {
    const { content } = Object(message) as { content?: unknown }
    return Array.isArray(content) ? (content as { type?: unknown; toolCallId?: unknown }[]) : []
  })
  return parts.some(({ type, toolCallId }) => type === 'tool-approval-request' && toolCallId === id)
}

/** Wraps a JSON Schema as a Standard Schema, which the frameworks read. */
function schemaOf(schema: Record<string, unknown>) {
  const toJson = () => structuredClone(schema)
  return {
    '~standard': {
      version: 1,
      vendor: 'wardspace',
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input: toJson, output: toJson },
    },
  } as const
}

/** Returns the result of a call. The AI SDK passes it as `output`; Mastra passes the result itself. */
function resultIn(result: CallResult | { readonly output: unknown }): CallResult {
  return 'ok' in result || isDialectResult(result) ? result : (result.output as CallResult)
}

function modelOutput(
  name: string,
  result: CallResult,
  form: 'text' | 'json',
  taken: MediaOptions['media'],
  flow: 'asks before' | 'suspends',
): AgentToolOutput {
  const { text, isError } = resultToText(name, result)
  const media = mediaOf(result, taken)
  if (media.length > 0) {
    const files = media.map((one) => {
      const file = { data: one.data, mediaType: one.mimeType }
      // Mastra turns this form into that of the provider's version. The AI SDK has these two.
      if (flow === 'suspends') return { type: 'media', ...file }
      return isImage(one) ? { type: 'image-data', ...file } : { type: 'file-data', ...file, filename: one.name }
    })
    return { type: 'content', value: [...(text === '' ? [] : [{ type: 'text', text }]), ...files] }
  }
  const value = isDialectResult(result) ? result.output : result
  if (typeof value === 'string' || form === 'text') return { type: isError ? 'error-text' : 'text', value: text }
  return { type: isError ? 'error-json' : 'json', value }
}

/** Removes undefined fields, as JSON does. */
function plain(result: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(result))
}
