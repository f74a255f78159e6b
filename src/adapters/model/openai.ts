import { checkOptions, isBoolean } from '../../util/check-options.ts'
import { modelTools } from './model-tools.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type OfferOptions,
  offerTable,
  selectTools,
} from './select-tools.ts'
import { strictSchema, withoutNulls } from './strict.ts'
import { createCaller, parseArguments, type Toolbox } from './toolbox.ts'

/** The definition of a function. */
export interface OpenAiFunction {
  name: string
  description: string
  parameters: OpenAiParameters
  strict: boolean
}

/** The JSON Schema of a function's input. */
export type OpenAiParameters = {
  type: 'object'
  properties: Record<string, Record<string, unknown>>
  required: string[]
} & ({ additionalProperties: false } | { additionalProperties: true })

/** A tool of the Responses API, which an agent of OpenAI's Agents SDK can run. */
export interface OpenAiTool extends OpenAiFunction {
  type: 'function'
  /** Runs a call for an agent, and returns the text for the model. */
  invoke(context: unknown, json: string, details?: OpenAiCallDetails): Promise<string>
  /** Resolves to false, because the workspace requests approvals. */
  needsApproval(): Promise<boolean>
  /** Resolves to true. */
  isEnabled(): Promise<boolean>
}

/** The call that an agent runs. */
export interface OpenAiCallDetails {
  readonly toolCall?: { readonly callId: string }
  readonly signal?: AbortSignal
}

/** A `function_call` of a response. */
export interface OpenAiCall {
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}

/** The item of the next input that answers the call. */
export interface OpenAiResult {
  type: 'function_call_output'
  call_id: string
  output: string
}

/** A tool of Chat Completions, which `runTools` of OpenAI's SDK can run. */
export interface OpenAiChatTool {
  type: 'function'
  function: OpenAiFunction & {
    /** Runs a call for `runTools`, and returns the text for the model. */
    function(json: string, runner?: { readonly controller?: AbortController }): Promise<string>
  }
}

/** One of a message's `tool_calls`. */
export interface OpenAiChatCall {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
}

/** The message that answers the call. */
export interface OpenAiChatResult {
  role: 'tool'
  tool_call_id: string
  content: string
}

/** Tools to offer, and whether the API enforces their schemas. */
export interface OpenAiOptions extends OfferOptions {
  /**
   * Enforces the schema of each tool that strict mode can express: every field is required, and `null` means that it is left out.
   * A tool whose schema allows arbitrary keys is not strict. Default: true.
   */
  readonly strict?: boolean
}

/**
 * Returns the tools of a workspace for OpenAI's Responses API: for an agent of the Agents SDK, which runs the calls, or for a loop of
 * your own over `call`. The API has no error results: a refusal begins with its code.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have
 * @example
 * const offer = openAiTools(workspace)
 * const item = await offer.call({ call_id: 'call_1', name: 'read_file', arguments: '{"path":"src/app.ts"}' })
 */
export function openAiTools(
  workspace: CallableTools | CallableDialectTools,
  options?: OpenAiOptions,
): Toolbox<OpenAiTool, OpenAiCall, OpenAiResult> {
  const { tools, answer } = createFunctions('openAiTools()', workspace, options)
  return {
    tools: tools.map((tool) => ({
      type: 'function',
      ...tool,
      invoke: (_context, json, { toolCall, signal } = {}) =>
        answer(toolCall?.callId, tool.name, json, signal ? { signal } : {}),
      needsApproval: async () => false,
      isEnabled: async () => true,
    })),
    async call({ call_id, name, arguments: json }, callOptions) {
      return { type: 'function_call_output', call_id, output: await answer(call_id, name, json, callOptions) }
    },
  }
}

/**
 * Returns the tools of a workspace for Chat Completions, and for the servers that are compatible with it: for `runTools`, which runs
 * the calls, or for a loop of your own over `call`.
 *
 * @throws TypeError for a name in `tools` that the workspace does not have
 * @example
 * const offer = openAiChatTools(workspace, { strict: false })
 * const message = await offer.call({ id: 'call_1', function: { name: 'list_directory', arguments: '{}' } })
 */
export function openAiChatTools(
  workspace: CallableTools | CallableDialectTools,
  options?: OpenAiOptions,
): Toolbox<OpenAiChatTool, OpenAiChatCall, OpenAiChatResult> {
  const { tools, answer } = createFunctions('openAiChatTools()', workspace, options)
  return {
    tools: tools.map((tool) => ({
      type: 'function',
      function: {
        ...tool,
        function: (json, { controller } = {}) =>
          answer(undefined, tool.name, json, controller ? { signal: controller.signal } : {}),
      },
    })),
    async call({ id, function: { name, arguments: json } }, callOptions) {
      return { role: 'tool', tool_call_id: id, content: await answer(id, name, json, callOptions) }
    },
  }
}

function createFunctions(
  owner: string,
  workspace: CallableTools | CallableDialectTools,
  requested: OpenAiOptions | undefined,
) {
  const options = checkOptions<OpenAiOptions>(owner, requested, { ...offerTable, strict: isBoolean })
  const caller = createCaller(workspace, options)
  const strict = new Set<string>()
  const tools = modelTools(selectTools(owner, workspace, options)).map(({ name, description, inputSchema }) => {
    const parameters = options.strict === false ? undefined : strictSchema(inputSchema)
    if (parameters !== undefined) strict.add(name)
    return {
      name,
      description,
      parameters: { ...emptySchema, ...(parameters ?? inputSchema) } as OpenAiParameters,
      strict: parameters !== undefined,
    }
  })
  const answer = async (
    id: string | undefined,
    name: string,
    json: string,
    callOptions?: { readonly signal?: AbortSignal },
  ) => {
    const input = parseArguments(json)
    const { text } = await caller({ id, name, input: strict.has(name) ? withoutNulls(input) : input }, callOptions)
    return text
  }
  return { tools, answer }
}

/** The keywords that the types of OpenAI's packages require. */
const emptySchema = { type: 'object', properties: {}, required: [], additionalProperties: true }
