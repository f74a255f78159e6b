import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Script, scriptedModel } from 'wardspace/testing/scripted-model'

export interface OpenAiServer {
  /** Such as `http://127.0.0.1:4321/v1`. */
  readonly url: string
  /** The bodies of all requests. */
  readonly requests: readonly ChatRequest[]
  /** The faults of all requests, for which a strict server refuses them. */
  readonly faults: readonly string[]
  /**
   * Sets the next responses to a misbehaviour each: a status, `hang` to stop after the first words, `drop` to close the
   * connection after them, `garble` to make calls whose input is not JSON, `empty` to answer with nothing, or `cut` to end
   * the text at the limit of output. A status of 429 asks to wait for a second.
   */
  misbehave(...options: Misbehaviour[]): void
  close(): Promise<void>
}

export type Misbehaviour = number | 'hang' | 'drop' | 'garble' | 'empty' | 'cut'

export interface OpenAiServerOptions {
  /** The texts and calls of its model. */
  readonly script: Script
  /** The required key. A response of 401 repeats a wrong key, as some servers do. */
  readonly key?: string
  /** Number of characters per chunk of text. Default: 16. */
  readonly pieces?: number
}

interface ChatMessage {
  readonly role: string
  readonly content: string | null | readonly { readonly type: string; readonly text?: string }[]
  readonly tool_calls?: readonly {
    readonly id: string
    readonly type: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly tool_call_id?: string
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

type Prompt = Parameters<ReturnType<typeof scriptedModel>['doGenerate']>[0]['prompt']

/**
 * Starts a loopback server with the streaming protocol of OpenAI's chat completions, including tool calls, for Node and for
 * pages of other origins. Its model follows a script and sees only the conversation in the request.
 */
export async function startOpenAiServer({ script, key, pieces = 16 }: OpenAiServerOptions): Promise<OpenAiServer> {
  const requests: ChatRequest[] = []
  const faults: string[] = []
  const misbehaviours: Misbehaviour[] = []
  const model = scriptedModel(script)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(corsOf(request))) response.setHeader(name, value)
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions')
      return fail(response, 404, 'Unknown address')
    const body = JSON.parse(await textOf(request)) as ChatRequest
    const given = request.headers.authorization ?? ''
    if (key !== undefined && given !== `Bearer ${key}`) {
      return fail(response, 401, `Incorrect API key provided: ${given.replace('Bearer ', '')}.`)
    }
    requests.push(body)
    const wrong = faultOf(body)
    if (wrong !== undefined) {
      faults.push(wrong)
      return fail(response, 400, wrong)
    }
    const settings = misbehaviours.shift()
    if (settings === 429) response.setHeader('retry-after', '1')
    if (typeof settings === 'number') return fail(response, settings, `Out of order; asked with ${given}`)
    const { content, finishReason, usage } = await model.doGenerate({ prompt: promptOf(body.messages) })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: body.model }
    // Two writes, so that no event arrives in one chunk.
    const send = async (data: unknown): Promise<void> => {
      const event = `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
      const half = Math.floor(event.length / 2)
      response.write(event.slice(0, half))
      await new Promise((resolve) => setImmediate(resolve))
      response.write(event.slice(half))
    }
    const delta = (one: object, finish: string | null = null) =>
      send({ ...base, choices: [{ index: 0, delta: one, finish_reason: finish }] })
    await delta({ role: 'assistant', content: '' })
    let index = 0
    for (const part of content) {
      if (settings === 'empty') break
      if (part.type === 'text') {
        for (const piece of inPieces(part.text, pieces)) {
          await delta({ content: piece })
          if (settings === 'hang') return void (await once(response, 'close'))
          if (settings === 'drop') return void response.destroy()
        }
      } else if (part.type === 'tool-call') {
        const { toolName: name, input } = part
        const id = `call_${String(requests.length).padStart(4, '0')}${String(index).padStart(4, '0')}`
        await delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
        for (const piece of inPieces(settings === 'garble' ? input.slice(0, -1) : input, pieces)) {
          await delta({ tool_calls: [{ index, function: { arguments: piece } }] })
        }
        index += 1
      }
    }
    await delta({}, settings === 'cut' ? 'length' : finishReason.unified === 'tool-calls' ? 'tool_calls' : 'stop')
    if (body.stream_options?.include_usage === true) {
      const prompt = usage.inputTokens.total ?? 0
      const completion = usage.outputTokens.total ?? 0
      const counted = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
      await send({ ...base, choices: [], usage: counted })
    }
    await send('[DONE]')
    response.end()
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      faults.push(String(error))
      response.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    faults,
    misbehave: (...how) => void misbehaviours.push(...how),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function corsOf({ headers }: IncomingMessage): Record<string, string> {
  return {
    'access-control-allow-origin': headers.origin ?? '*',
    'access-control-allow-methods': 'POST, OPTIONS',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
    'access-control-expose-headers': 'retry-after',
    'cross-origin-resource-policy': 'cross-origin',
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

function fail(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ error: { message, type: 'error', param: null, code: null } }))
}

function inPieces(text: string, length: number): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g')) ?? []
}

/** Returns the error of a strict server for a request, or `undefined` for a valid one. */
function faultOf({ model, stream, messages, tools = [] }: ChatRequest): string | undefined {
  if (typeof model !== 'string' || model === '') return 'model is missing'
  if (stream !== true) return 'this server streams'
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

/** Converts the conversation for the model of the server. */
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
