import type { ModelAnswer, ModelProtocol, Prompt } from './types.ts'

type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'document'; readonly source: object }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool_result'; readonly tool_use_id: string; readonly content: string | readonly Block[] }

interface Message {
  readonly role: string
  readonly content: string | readonly Block[]
}

export interface MessagesRequest {
  readonly model: string
  readonly stream?: boolean
  readonly max_tokens?: number
  readonly system?: string | readonly Block[]
  readonly messages: readonly Message[]
  readonly tools?: readonly { readonly name: string; readonly input_schema: { readonly type?: string } }[]
}

/** Anthropic's messages. */
export const anthropicProtocol: ModelProtocol<MessagesRequest> = {
  path: '/v1/messages',
  keyOf: (headers) => String(headers['x-api-key'] ?? ''),
  faultOf,
  promptOf,
  stream,
}

async function stream(answer: ModelAnswer<MessagesRequest>): Promise<void> {
  const { request, content, hasEnded, inputTokens, outputTokens } = answer
  const send = (data: { readonly type: string; readonly [field: string]: unknown }) => answer.send(data, data.type)
  const usage = { input_tokens: inputTokens, output_tokens: 1 }
  const head = { id: 'msg_1', type: 'message', role: 'assistant', model: request.model, content: [] }
  await send({ type: 'message_start', message: { ...head, stop_reason: null, usage } })
  for (const [index, part] of content.entries()) {
    const delta = (one: object) => send({ type: 'content_block_delta', index, delta: one })
    const start = (block: object) => send({ type: 'content_block_start', index, content_block: block })
    if (part.type === 'text') {
      await start({ type: 'text', text: '' })
      for (const text of answer.split(part.text)) {
        await delta({ type: 'text_delta', text })
        if (await hasEnded()) return
      }
    } else if (part.type === 'tool-call') {
      await start({ type: 'tool_use', id: `${answer.idPrefix}${index}`, name: part.toolName, input: {} })
      for (const json of answer.splitInput(part.input)) {
        await delta({ type: 'input_json_delta', partial_json: json })
        if (await hasEnded()) return
      }
    }
    await send({ type: 'content_block_stop', index })
  }
  const reason = answer.isCut ? 'max_tokens' : answer.finishReason === 'tool-calls' ? 'tool_use' : 'end_turn'
  const end = { stop_reason: reason, stop_sequence: null }
  await send({ type: 'message_delta', delta: end, usage: { output_tokens: outputTokens } })
  await send({ type: 'message_stop' })
}

function blocksOf(content: Message['content']): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function faultOf({ model, stream: streams, max_tokens, messages, tools = [] }: MessagesRequest): string | undefined {
  if (typeof model !== 'string' || model === '') return 'model is missing'
  if (streams !== true) return 'this server streams'
  if (typeof max_tokens !== 'number') return 'max_tokens: Field required'
  for (const { name, input_schema: schema } of tools) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `tool ${name} has no good name`
    if (schema.type !== 'object') return `the schema of ${name} is not an object`
  }
  let open = new Set<string>()
  for (const [at, { role, content }] of messages.entries()) {
    const blocks = blocksOf(content)
    if (role !== (at % 2 === 0 ? 'user' : 'assistant')) return `messages.${at}: roles must alternate`
    if (blocks.length === 0) return `messages.${at}: content is empty`
    for (const block of blocks) {
      if (block.type === 'text' && block.text === '') return `messages.${at}: text content blocks must be non-empty`
      if (block.type === 'tool_result' && !open.delete(block.tool_use_id))
        return `messages.${at}: unexpected tool_result`
    }
    if (open.size > 0) return `messages.${at}: ${[...open][0]} has no tool_result`
    open = new Set(blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : [])))
  }
  return open.size > 0 ? `${[...open][0]} has no tool_result` : undefined
}

function promptOf({ system, messages }: MessagesRequest): Prompt {
  const names = new Map<string, string>()
  const prompt: Prompt[number][] = system === undefined ? [] : [{ role: 'system', content: textOf(system) }]
  for (const { role, content } of messages) {
    const blocks = blocksOf(content)
    const results = blocks.filter((block) => block.type === 'tool_result')
    if (results.length > 0) {
      const parts = results.map((block) => ({
        type: 'tool-result' as const,
        toolCallId: block.tool_use_id,
        toolName: names.get(block.tool_use_id) ?? '',
        output: { type: 'text' as const, value: textOf(block.content) },
      }))
      prompt.push({ role: 'tool', content: parts })
    }
    const text = textOf(blocks)
    if (role === 'user' && text !== '') prompt.push({ role: 'user', content: [{ type: 'text', text }] })
    if (role !== 'assistant') continue
    const calls = blocks.flatMap((block) => {
      if (block.type !== 'tool_use') return []
      names.set(block.id, block.name)
      return [{ type: 'tool-call' as const, toolCallId: block.id, toolName: block.name, input: block.input }]
    })
    prompt.push({ role, content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls] })
  }
  return prompt
}

function textOf(content: Message['content']): string {
  return blocksOf(content)
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('')
}
