import { ToolMessage } from '@langchain/core/messages/tool'
import { DynamicStructuredTool, type ToolRunnableConfig } from '@langchain/core/tools'
import * as z from 'zod'
import type { CallOptions } from '../../call/state/call.ts'
import { checkOptions } from '../../util/check-options.ts'
import { modelTools } from '../model/model-tools.ts'
import { resultToText } from '../model/result-text.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type CallResult,
  callOptionsOf,
  type OfferOptions,
  offerTable,
  selectTools,
} from '../model/select-tools.ts'

export type { CallableDialectTools, CallableTools, OfferOptions } from '../model/select-tools.ts'

/** A tool of a workspace for LangChain. It accepts any input, because the workspace validates it. */
export type LangChainTool = DynamicStructuredTool<z.ZodUnknown>

/**
 * Returns the tools of a workspace for LangChain (version 1): `bindTools`, agents, `ToolNode`. Only the workspace validates input, so
 * invalid input is a refusal like any other. A refusal is not thrown: it is a `ToolMessage` with the status `error`. The whole
 * result is the `artifact` of the message. The id of the tool call is the `stepId` of its audit records, and the `signal` of the
 * configuration cancels the call.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have
 * @example
 * const tools = langchainTools(workspace)
 * const message = await tools.find(({ name }) => name === 'read_file')?.invoke({
 *   type: 'tool_call', id: 'call_1', name: 'read_file', args: { path: 'src/app.ts' },
 * })
 */
export function langchainTools(
  workspace: CallableTools | CallableDialectTools,
  requested?: OfferOptions,
): LangChainTool[] {
  const options = checkOptions<OfferOptions>('langchainTools()', requested, offerTable)
  const run: { callTool(name: string, input: unknown, callOptions?: CallOptions): Promise<CallResult> } =
    options.run ?? workspace
  return modelTools(selectTools('langchainTools()', workspace, options)).map(
    ({ name, description, inputSchema }) =>
      new DynamicStructuredTool({
        name,
        description,
        // The schema is sent to the model, but not used for validation.
        schema: z.unknown().meta(inputSchema),
        responseFormat: 'content_and_artifact',
        func: async (input: unknown, _manager, config?: ToolRunnableConfig) => {
          const id = config?.toolCall?.id
          const result = await run.callTool(name, input, callOptionsOf(options, id, config?.signal))
          const { text, isError } = resultToText(name, result)
          if (!isError || id === undefined) return [text, result]
          return [new ToolMessage({ content: text, artifact: result, tool_call_id: id, name, status: 'error' }), result]
        },
      }),
  )
}
