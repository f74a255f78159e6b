import { checkOptions, refuseSurplus } from '../../util/check-options.ts'
import { isImage, type MediaOptions, mediaCheck, takenTypes } from './media.ts'
import { modelTools } from './model-tools.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type OfferOptions,
  offerTable,
  selectTools,
} from './select-tools.ts'
import { createCaller, type ModelAnswer, type Toolbox } from './toolbox.ts'

/** A tool of Anthropic's Messages API, which the `toolRunner` of Anthropic's SDK can run. */
export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: { type: 'object'; [keyword: string]: unknown }
  /**
   * Runs a call for `toolRunner`, and returns what the model gets: a text, or blocks if it takes media.
   *
   * @throws Error for a refusal, which the runner sends with `is_error`
   */
  run(input: unknown, context?: AnthropicRunContext): Promise<string | AnthropicBlock[]>
  /** Returns the input unchanged, because the workspace validates it. */
  parse(input: unknown): unknown
}

/** The call that `toolRunner` runs. */
export interface AnthropicRunContext {
  readonly toolUse?: { readonly id: string }
  readonly signal?: AbortSignal | null | undefined
}

/** A `tool_use` block of a message. */
export interface AnthropicCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** The `tool_result` block that answers the call. */
export interface AnthropicResult {
  type: 'tool_result'
  tool_use_id: string
  content: string | AnthropicBlock[]
  is_error?: boolean
}

/** A block of a result with an image or a document. */
export type AnthropicBlock =
  | { type: 'text'; text: string }
  | {
      type: 'image'
      source: { type: 'base64'; media_type: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'; data: string }
    }
  | { type: 'document'; source: { type: 'base64'; media_type: 'application/pdf'; data: string }; title: string }

/** Tools to offer, and the media that the model takes. */
export interface AnthropicOptions extends OfferOptions, MediaOptions {}

/**
 * Returns the tools of a workspace for Anthropic's Messages API: for `toolRunner`, which runs the calls, or for a loop of your own
 * over `call`. A refusal has `is_error`. The id of the `tool_use` block is the `stepId` of the call's audit records.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have
 * @example
 * const offer = anthropicTools(workspace)
 * const block = { id: 'toolu_1', name: 'read_file', input: { path: 'src/app.ts' } }
 * const answer = await offer.call(block) // the definitions are `offer.tools`
 */
export function anthropicTools(
  workspace: CallableTools | CallableDialectTools,
  requested?: AnthropicOptions,
): Toolbox<AnthropicTool, AnthropicCall, AnthropicResult> {
  refuseSurplus('anthropicTools()', 2, arguments)
  const options = checkOptions<AnthropicOptions>('anthropicTools()', requested, { ...offerTable, ...mediaCheck() })
  const caller = createCaller(workspace, { ...options, ...takenTypes(options.media) })
  return {
    tools: modelTools(selectTools('anthropicTools()', workspace, options)).map(
      ({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
        async run(input: unknown, { toolUse, signal }: AnthropicRunContext = {}) {
          const answer = await caller({ name, input, id: toolUse?.id }, signal ? { signal } : {})
          if (answer.isError) throw new Error(answer.text)
          return contentOf(answer)
        },
        parse: (input: unknown) => input,
      }),
    ),
    async call(call, callOptions) {
      const answer = await caller(call, callOptions)
      const error = answer.isError && { is_error: true }
      return { type: 'tool_result', tool_use_id: call.id, content: contentOf(answer), ...error }
    },
  }
}

function contentOf({ text, media }: ModelAnswer): string | AnthropicBlock[] {
  if (media.length === 0) return text
  const blocks = media.map((one) => {
    const source = { type: 'base64', media_type: one.mimeType, data: one.data }
    return (isImage(one) ? { type: 'image', source } : { type: 'document', source, title: one.name }) as AnthropicBlock
  })
  return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...blocks]
}
