import type { ModelAnswer, ModelProtocol, Prompt } from './types.ts'

interface ChatMessage {
  readonly role: string
  readonly content: string | null | readonly ChatPart[]
  readonly tool_calls?: readonly {
    readonly id: string
    readonly type: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly tool_call_id?: string
}

interface ChatPart {
  readonly type: string
  readonly text?: string
  readonly image_url?: { readonly url: string }
}

export interface ChatRequest {
  readonly model: string
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly {
    readonly type: string
    readonly function: { readonly name: string; readonly parameters: { readonly type?: string } }
  }[]
}

/** OpenAI's chat completions. */
export const openAiProtocol: ModelProtocol<ChatRequest> = {
  path: '/v1/chat/completions',
  keyOf: ({ authorization }) => String(authorization ?? '').replace('Bearer ', ''),
  faultOf,
  promptOf: ({ messages }) => promptOf(messages),
  stream,
}

async function stream(answer: ModelAnswer<ChatRequest>): Promise<void> {
  const { request, content, send, hasEnded, inputTokens, outputTokens } = answer
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: request.model }
  const delta = (one: object, finish: string | null = null) =>
    send({ ...base, choices: [{ index: 0, delta: one, finish_reason: finish }] })
  await delta({ role: 'assistant', content: '' })
  let index = 0
  for (const part of content) {
    if (part.type === 'text') {
      for (const piece of answer.split(part.text)) {
        await delta({ content: piece })
        if (await hasEnded()) return
      }
    } else if (part.type === 'tool-call') {
      const { toolName: name, input } = part
      const id = `${answer.idPrefix}${index}`
      await delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
      for (const piece of answer.splitInput(input)) {
        await delta({ tool_calls: [{ index, function: { arguments: piece } }] })
        if (await hasEnded()) return
      }
      index += 1
    }
  }
  await delta({}, answer.isCut ? 'length' : answer.finishReason === 'tool-calls' ? 'tool_calls' : 'stop')
  if (request.stream_options?.include_usage === true) {
    const counted = { prompt_tokens: inputTokens, completion_tokens: outputTokens }
    await send({ ...base, choices: [], usage: { ...counted, total_tokens: inputTokens + outputTokens } })
  }
  await send('[DONE]')
}

function faultOf({ model, stream: streams, messages, tools = [] }: ChatRequest): string | undefined {
  if (typeof model !== 'string' || model === '') return 'model is missing'
  if (streams !== true) return 'this server streams'
  for (const { type, function: one } of tools) {
    if (type !== 'function' || !/^[a-zA-Z0-9_-]{1,64}$/.test(one.name)) return `tool ${one.name} has no good name`
    if (one.parameters.type !== 'object') return `the parameters of ${one.name} are not an object`
  }
  const open = new Set<string>()
  for (const [at, { role, content, tool_calls = [], tool_call_id: id }] of messages.entries()) {
    if (role === 'tool') {
      if (id === undefined || !open.delete(id)) return `messages.${at}: no call for this result`
      if (typeof content !== 'string') return `messages.${at}: a result is a string`
    } else if (open.size > 0) return `messages.${at}: ${[...open][0]} has no result`
    if (role === 'assistant') {
      for (const call of tool_calls) {
        JSON.parse(call.function.arguments)
        open.add(call.id)
      }
      if (tool_calls.length === 0 && (content ?? '') === '') return `messages.${at}: an empty answer`
    } else if (role !== 'tool' && role !== 'system' && role !== 'user') return `messages.${at}: role ${role}`
  }
  return open.size > 0 ? `${[...open][0]} has no result` : undefined
}

function promptOf(messages: readonly ChatMessage[]): Prompt {
  const names = new Map<string, string>()
  return messages.map((message): Prompt[number] => {
    const { role, content, tool_calls = [], tool_call_id: id = '' } = message
    const text = typeof content === 'string' ? content : (content ?? []).map((part) => part.text ?? '').join('')
    if (role === 'system') return { role, content: text }
    if (role === 'user') return { role, content: [{ type: 'text', text }] }
    if (role === 'tool') {
      const output = { type: 'text' as const, value: text }
      return { role, content: [{ type: 'tool-result', toolCallId: id, toolName: names.get(id) ?? '', output }] }
    }
    const calls = tool_calls.map((call) => {
      names.set(call.id, call.function.name)
      const input: unknown = JSON.parse(call.function.arguments)
      return { type: 'tool-call' as const, toolCallId: call.id, toolName: call.function.name, input }
    })
    return { role: 'assistant', content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls] }
  })
}
