import { checkOptions } from '../../util/check-options.ts'
import { modelTools } from './model-tools.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type OfferOptions,
  offerTable,
  selectTools,
} from './select-tools.ts'
import { createCaller, type Toolbox } from './toolbox.ts'

/** A tool of Anthropic's Messages API, which the `toolRunner` of Anthropic's SDK can run. */
export interface AnthropicTool {
  readonly name: string
  readonly description: string
  readonly input_schema: { type: 'object'; [keyword: string]: unknown }
  /**
   * Runs a call for `toolRunner`, and returns the text for the model.
   *
   * @throws Error for a refusal, which the runner sends with `is_error`
   */
  run(input: unknown, context?: AnthropicRunContext): Promise<string>
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
  content: string
  is_error?: boolean
}

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
  requested?: OfferOptions,
): Toolbox<AnthropicTool, AnthropicCall, AnthropicResult> {
  const options = checkOptions<OfferOptions>('anthropicTools()', requested, offerTable)
  const caller = createCaller(workspace, options)
  return {
    tools: modelTools(selectTools('anthropicTools()', workspace, options)).map(
      ({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: inputSchema,
        async run(input: unknown, { toolUse, signal }: AnthropicRunContext = {}) {
          const { text, isError } = await caller({ name, input, id: toolUse?.id }, signal ? { signal } : {})
          if (isError) throw new Error(text)
          return text
        },
        parse: (input: unknown) => input,
      }),
    ),
    async call(call, callOptions) {
      const { text, isError } = await caller(call, callOptions)
      return { type: 'tool_result', tool_use_id: call.id, content: text, ...(isError && { is_error: true }) }
    },
  }
}
