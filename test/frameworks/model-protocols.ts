import type { OfferedTool, ScriptedCall } from './model-server.ts'

type Json = Readonly<Record<string, unknown>>

/** The protocol of a model API: what a request contains, and how an answer looks. */
export interface ModelProtocol {
  toolsOf(request: Json): readonly OfferedTool[]
  /** Returns the texts of the results in the conversation. */
  resultsOf(request: Json): readonly string[]
  makeCall(id: string, call: ScriptedCall): Json
  sayText(text: string): Json
  /** Returns the events of a streamed answer. */
  eventsOf(answer: Json): readonly Json[]
  /** What ends a stream. */
  readonly end: string
}

interface AnthropicBlock {
  readonly type: string
  readonly text?: string
  readonly content?: unknown
}

const anthropic: ModelProtocol = {
  toolsOf: ({ tools = [] }) =>
    (tools as readonly { name: string; input_schema: Json }[]).map(({ name, input_schema }) => ({
      name,
      schema: input_schema,
      strict: false,
    })),
  resultsOf: ({ messages }) =>
    (messages as readonly { content: string | readonly AnthropicBlock[] }[])
      .flatMap(({ content }) => (typeof content === 'string' ? [] : content))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => flatText(content)),
  makeCall: (id, { name, input }) => anthropicMessage(id, 'tool_use', { type: 'tool_use', id, name, input }),
  sayText: (text) => anthropicMessage('final', 'end_turn', { type: 'text', text }),
  eventsOf(message) {
    const { content, stop_reason, usage } = message as { content: Json[]; stop_reason: string; usage: Json }
    const [block = {}] = content
    const isText = block.type === 'text'
    return [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
      {
        type: 'content_block_start',
        index: 0,
        content_block: isText ? { ...block, text: '' } : { ...block, input: {} },
      },
      {
        type: 'content_block_delta',
        index: 0,
        delta: isText
          ? { type: 'text_delta', text: block.text }
          : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) },
      },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
  },
  end: '',
}

function anthropicMessage(id: string, stop_reason: string, block: Json): Json {
  return {
    ...{ id: `msg_${id}`, type: 'message', role: 'assistant', model: 'scripted' },
    ...{ content: [block], stop_reason, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } },
  }
}

const openAiResponses: ModelProtocol = {
  toolsOf: ({ tools = [] }) =>
    (tools as readonly { name: string; parameters: Json; strict?: boolean }[]).map(({ name, parameters, strict }) => ({
      name,
      schema: parameters,
      strict: strict === true,
    })),
  resultsOf: ({ input }) =>
    (typeof input === 'string' ? [] : (input as readonly { type?: string; output?: unknown }[]))
      .filter(({ type }) => type?.endsWith('_call_output'))
      .map(({ output }) => flatText(output)),
  makeCall: (call_id, { name, input, native }) =>
    openAiResponse({
      // A tool that the API has built in has items of its own.
      ...(native && { type: native, id: `fc_${call_id}`, call_id, status: 'completed', ...input }),
      ...(!native && { type: 'function_call', id: `fc_${call_id}`, call_id, name }),
      ...(!native && { arguments: JSON.stringify(input), status: 'completed' }),
    }),
  sayText: (text) =>
    openAiResponse({
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
    }),
  eventsOf(response) {
    const [item] = response.output as readonly [Json]
    const events: Json[] = [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      ...(item.type === 'message'
        ? [
            {
              ...{ type: 'response.output_text.delta', item_id: item.id, output_index: 0, content_index: 0 },
              ...{ delta: flatText(item.content), logprobs: [] },
            },
          ]
        : []),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ]
    return events.map((event, sequence_number) => ({ ...event, sequence_number }))
  },
  end: '',
}

function openAiResponse(item: Json): Json {
  return {
    ...{
      id: `resp_${item.id}`,
      object: 'response',
      created_at: 0,
      model: 'scripted',
      status: 'completed',
      error: null,
    },
    ...{ output: [item], incomplete_details: null, instructions: null, metadata: {}, parallel_tool_calls: false },
    ...{ temperature: 1, tool_choice: 'auto', tools: [], top_p: 1 },
    usage: {
      ...{ input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      ...{ input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } },
    },
  }
}

const openAiChat: ModelProtocol = {
  toolsOf: ({ tools = [] }) =>
    (tools as readonly { function: { name: string; parameters: Json; strict?: boolean } }[]).map(
      ({ function: { name, parameters, strict } }) => ({ name, schema: parameters, strict: strict === true }),
    ),
  resultsOf: ({ messages }) =>
    (messages as readonly { role: string; content: unknown }[])
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => flatText(content)),
  makeCall: (id, { name, input }) =>
    chatCompletion(id, 'tool_calls', {
      content: null,
      tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
    }),
  sayText: (content) => chatCompletion('final', 'stop', { content }),
  eventsOf(completion) {
    const [{ message, finish_reason }] = completion.choices as [{ message: Json; finish_reason: string }]
    const chunk = (delta: Json, reason: string | null) => ({
      ...completion,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
    })
    return [chunk(message, null), chunk({}, finish_reason)]
  },
  end: 'data: [DONE]\n\n',
}

function chatCompletion(id: string, finish_reason: string, message: Json): Json {
  return {
    ...{ id: `chatcmpl_${id}`, object: 'chat.completion', created: 0, model: 'scripted' },
    choices: [{ index: 0, message: { role: 'assistant', refusal: null, ...message }, finish_reason, logprobs: null }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}

/** Returns the text of a content that is a string or a list of blocks. */
function flatText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return JSON.stringify(content)
  return content.map((block: { readonly text?: string }) => block.text ?? JSON.stringify(block)).join('\n')
}

/** The protocols by the last segment of the path. */
export const protocols: Readonly<Record<string, ModelProtocol>> = {
  '/messages': anthropic,
  '/responses': openAiResponses,
  '/chat/completions': openAiChat,
}
