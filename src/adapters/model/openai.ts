import { checkOptions, isBoolean, type OptionTable, refuseSurplus } from '../../util/check-options.ts'
import { approvalsOf, approvalTable, type PendingCall } from './framework-approvals.ts'
import { isImage, type MediaOptions, type ModelMedia, mediaCheck, takenTypes } from './media.ts'
import { modelTools } from './model-tools.ts'
import { explainAnswer, parseArguments } from './parse-arguments.ts'
import {
  type CallableDialectTools,
  type CallableTools,
  type OfferOptions,
  offerTable,
  selectTools,
} from './select-tools.ts'
import { strictSchema, withoutNulls } from './strict.ts'
import { createCaller, type ModelAnswer, modelAnswer, type Toolbox } from './toolbox.ts'

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
  /** Runs a call for an agent, and returns what the model gets: a text, or parts if it takes media. */
  invoke(context: unknown, json: string, details?: OpenAiCallDetails): Promise<string | OpenAiAgentPart[]>
  /** Whether the agent has to ask a person: false, because the workspace requests approvals, unless `approvals` is `framework`. */
  needsApproval(context?: unknown, input?: unknown, callId?: string): Promise<boolean>
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
  output: string | OpenAiPart[]
}

/** A part of an output with an image or a document. */
export type OpenAiPart =
  | { type: 'input_text'; text: string }
  | { type: 'input_image'; image_url: string; detail: 'auto' }
  | { type: 'input_file'; filename: string; file_data: string }

/** A part of an output with an image or a document, for an agent of the Agents SDK. */
export type OpenAiAgentPart =
  | { type: 'text'; text: string }
  | { type: 'image'; image: { data: string; mediaType: string } }
  | { type: 'file'; file: { data: string; mediaType: string; filename: string } }

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

/** Options of {@link openAiTools}. */
export interface OpenAiAgentOptions extends OpenAiOptions, MediaOptions {
  /**
   * Who asks for approvals: `approve` of the workspace or of these options, or an agent of the Agents SDK in its own flow. Then the
   * workspace must have no `approve`. A call is made when the SDK asks about it, and waits there if it needs an approval; an answer
   * counts for the call with its id alone, in the process that asked. Default: `workspace`.
   */
  readonly approvals?: 'workspace' | 'framework'
  /** Receives each call about which the SDK asks, for example to show the change. Needs `approvals: 'framework'`. */
  readonly onPending?: (pending: PendingCall) => void
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
  options?: OpenAiAgentOptions,
): Toolbox<OpenAiTool, OpenAiCall, OpenAiResult> {
  refuseSurplus('openAiTools()', 2, arguments)
  const { tools, answer, inputOf, asking, media, onPending } = createFunctions('openAiTools()', workspace, options, {
    ...approvalTable,
    ...mediaCheck(carried),
  })
  return {
    tools: tools.map((tool) => ({
      type: 'function',
      ...tool,
      async invoke(_context, json, { toolCall, signal } = {}) {
        const { name } = tool
        const id = toolCall?.callId
        if (asking === undefined || id === undefined)
          return agentOutput(await answer(id, name, json, signal ? { signal } : {}))
        const parsed = parseArguments(json)
        const call = { id, name, input: inputOf(name, parsed.input), signal }
        return agentOutput(explainAnswer(modelAnswer(name, await asking.finish(call), media), parsed))
      },
      async needsApproval(_context, input, id) {
        if (asking === undefined || id === undefined) return false
        const pending = await asking.ask({ id, name: tool.name, input: inputOf(tool.name, input) })
        if (pending !== undefined) onPending?.(pending)
        return pending !== undefined
      },
      isEnabled: async () => true,
    })),
    async call({ call_id, name, arguments: json }, callOptions) {
      const output = partsOf(await answer(call_id, name, json, callOptions))
      return { type: 'function_call_output', call_id, output }
    },
  }
}

/** What the API takes in the output of a call. Of GIF it takes no animations, so none is sent. */
const carried = ['image/png', 'image/jpeg', 'image/webp', 'application/pdf'] as const

function partsOf({ text, media }: ModelAnswer): string | OpenAiPart[] {
  if (media.length === 0) return text
  return [...(text === '' ? [] : [{ type: 'input_text', text } as const]), ...media.map(partOf)]
}

function partOf(media: ModelMedia): OpenAiPart {
  const url = `data:${media.mimeType};base64,${media.data}`
  if (isImage(media)) return { type: 'input_image', image_url: url, detail: 'auto' }
  return { type: 'input_file', filename: media.name, file_data: url }
}

function agentOutput({ text, media }: ModelAnswer): string | OpenAiAgentPart[] {
  if (media.length === 0) return text
  const parts = media.map((one): OpenAiAgentPart => {
    const file = { data: one.data, mediaType: one.mimeType }
    return isImage(one) ? { type: 'image', image: file } : { type: 'file', file: { ...file, filename: one.name } }
  })
  return [...(text === '' ? [] : [{ type: 'text', text } as const]), ...parts]
}

/**
 * Returns the tools of a workspace for Chat Completions, and for the servers that are compatible with it: for `runTools`, which runs
 * the calls, or for a loop of your own over `call`. The API takes only text as the answer to a call, so images and documents are refused.
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
  refuseSurplus('openAiChatTools()', 2, arguments)
  const { tools, answer } = createFunctions('openAiChatTools()', workspace, options)
  return {
    tools: tools.map((tool) => ({
      type: 'function',
      function: {
        ...tool,
        async function(json, { controller } = {}) {
          const signal = controller ? { signal: controller.signal } : {}
          return (await answer(undefined, tool.name, json, signal)).text
        },
      },
    })),
    async call({ id, function: { name, arguments: json } }, callOptions) {
      const { text } = await answer(id, name, json, callOptions)
      return { role: 'tool', tool_call_id: id, content: text }
    },
  }
}

function createFunctions(
  owner: string,
  workspace: CallableTools | CallableDialectTools,
  requested: OpenAiAgentOptions | undefined,
  more: Partial<OptionTable<OpenAiAgentOptions>> = {},
) {
  const table = { ...offerTable, strict: isBoolean, ...more } as OptionTable<OpenAiAgentOptions>
  const options = checkOptions<OpenAiAgentOptions>(owner, requested, table)
  const taken = { ...options, ...takenTypes(options.media, carried) }
  const asking = approvalsOf(owner, workspace, taken)
  const caller = createCaller(workspace, taken)
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
  const inputOf = (name: string, input: unknown) => (strict.has(name) ? withoutNulls(input) : input)
  const answer = async (
    id: string | undefined,
    name: string,
    json: string,
    callOptions?: { readonly signal?: AbortSignal },
  ) => {
    const parsed = parseArguments(json)
    return explainAnswer(await caller({ id, name, input: inputOf(name, parsed.input) }, callOptions), parsed)
  }
  return { tools, answer, inputOf, asking, media: taken.media, onPending: options.onPending }
}

/** The keywords that the types of OpenAI's packages require. */
const emptySchema = { type: 'object', properties: {}, required: [], additionalProperties: true }
