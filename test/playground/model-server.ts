import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Script, scriptedModel } from 'wardspace/testing/scripted-model'
import { anthropicProtocol, type MessagesRequest } from './model-protocols/anthropic.ts'
import { type ChatRequest, openAiProtocol } from './model-protocols/openai.ts'
import type { ModelProtocol } from './model-protocols/types.ts'

export interface ModelServer {
  /** Such as `http://127.0.0.1:4321/v1`. */
  readonly url: string
  /** The bodies of all requests by OpenAI's protocol. */
  readonly requests: readonly ChatRequest[]
  /** The bodies of all requests by Anthropic's protocol. */
  readonly messagesRequests: readonly MessagesRequest[]
  /** The faults of all requests, for which a strict server refuses them. */
  readonly faults: readonly string[]
  /**
   * Sets the next responses to a misbehaviour each: a status, `hang` to stop after the first words, `drop` to close the
   * connection after them, `end` to end the answer after them, `garble` to make calls whose input is not JSON, `empty` to answer with nothing, or `cut` to end
   * the text or the input of a call at the limit of output. A status of 429 asks to wait for a second, or for
   * the seconds of `retryAfter`.
   */
  misbehave(...options: Misbehaviour[]): void
  /** Holds the next answers before their first word, until the returned function is called. */
  hold(): () => void
  close(): Promise<void>
}

export type Misbehaviour =
  | number
  | { readonly retryAfter: number }
  | 'hang'
  | 'drop'
  | 'end'
  | 'garble'
  | 'empty'
  | 'cut'

export interface ModelServerOptions {
  /** The texts and calls of its model. */
  readonly script: Script
  /** The required key. A response of 401 repeats a wrong key, as some servers do. */
  readonly key?: string
  /** Number of characters per chunk of text. Default: 16. */
  readonly pieces?: number
  /** The models that it lists. Default: one. */
  readonly models?: readonly object[]
  /** How the ids of calls begin, if each answer numbers its calls anew. */
  readonly idPrefix?: string
  /** Refuses requests with more tokens, at four characters each. */
  readonly contextTokens?: number
}

/** Characters per token, as the server counts. */
const CHARACTERS_PER_TOKEN = 4

const protocols: readonly ModelProtocol<never>[] = [openAiProtocol, anthropicProtocol]

/**
 * Starts a loopback server with the streaming protocols of OpenAI's chat completions and of Anthropic's messages, including
 * tool calls, and with a list of models, for Node and for pages of other origins. Its model follows a script and sees only
 * the conversation in the request.
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const { key, pieces = 16, models = [{ id: 'a-model', object: 'model' }], contextTokens = Infinity } = options
  const bodies = { [openAiProtocol.path]: [] as ChatRequest[], [anthropicProtocol.path]: [] as MessagesRequest[] }
  const requests = bodies[openAiProtocol.path] as ChatRequest[]
  const messagesRequests = bodies[anthropicProtocol.path] as MessagesRequest[]
  const faults: string[] = []
  const misbehaviours: Misbehaviour[] = []
  const model = scriptedModel(options.script)
  let held: Promise<void> = Promise.resolve()

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for (const [name, value] of Object.entries(corsOf(request))) response.setHeader(name, value)
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    const path = new URL(request.url ?? '', 'http://server').pathname
    const given = openAiProtocol.keyOf(request.headers) || anthropicProtocol.keyOf(request.headers)
    if (key !== undefined && given !== key) return fail(response, 401, `Incorrect API key provided: ${given}.`)
    if (request.method === 'GET' && path === '/v1/models') {
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data: models }))
    }
    const protocol = protocols.find((one) => one.path === path) as ModelProtocol | undefined
    if (request.method !== 'POST' || protocol === undefined) return fail(response, 404, 'Unknown address')
    await complete(protocol, await textOf(request), response, given)
  }

  async function complete(protocol: ModelProtocol, text: string, response: ServerResponse, given: string) {
    const body = JSON.parse(text)
    bodies[protocol.path]?.push(body)
    const fault = protocol.faultOf(body)
    if (fault !== undefined) {
      faults.push(fault)
      return fail(response, 400, fault)
    }
    const inputTokens = Math.ceil(text.length / CHARACTERS_PER_TOKEN)
    if (inputTokens > contextTokens) {
      return fail(response, 400, `prompt is too long: ${inputTokens} tokens > ${contextTokens} maximum`)
    }
    const misbehaviour = misbehaviours.shift()
    if (misbehaviour === 429) response.setHeader('retry-after', '1')
    if (typeof misbehaviour === 'object') {
      response.setHeader('retry-after', String(misbehaviour.retryAfter))
      return fail(response, 429, 'Come back later')
    }
    if (typeof misbehaviour === 'number') {
      return fail(response, misbehaviour, `Out of order; asked with Bearer ${given}`)
    }
    const { content, finishReason } = await model.doGenerate({ prompt: protocol.promptOf(body) })
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    await held
    const isIncomplete = misbehaviour === 'garble' || misbehaviour === 'cut'
    await protocol.stream({
      request: body,
      content: misbehaviour === 'empty' ? [] : content,
      finishReason: finishReason.unified,
      inputTokens,
      outputTokens: Math.ceil(JSON.stringify(content).length / CHARACTERS_PER_TOKEN),
      idPrefix: options.idPrefix ?? `call_${String(requests.length + messagesRequests.length).padStart(4, '0')}000`,
      isCut: misbehaviour === 'cut',
      split: (piece) => inPieces(piece, pieces),
      splitInput: (json) => inPieces(isIncomplete ? json.slice(0, -1) : json, pieces),
      async send(data, name) {
        const event = `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
        // Two writes, so that no event arrives in one chunk.
        const half = Math.floor(event.length / 2)
        response.write(event.slice(0, half))
        await new Promise((resolve) => setImmediate(resolve))
        response.write(event.slice(half))
      },
      async hasEnded() {
        if (misbehaviour === 'hang') await once(response, 'close')
        if (misbehaviour === 'drop') response.destroy()
        return misbehaviour === 'hang' || misbehaviour === 'drop' || misbehaviour === 'end'
      },
    })
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
    messagesRequests,
    faults,
    misbehave: (...how) => void misbehaviours.push(...how),
    hold() {
      let release = (): void => {}
      held = new Promise((resolve) => {
        release = resolve
      })
      return () => release()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function corsOf({ headers }: IncomingMessage): Record<string, string> {
  return {
    'access-control-allow-origin': headers.origin ?? '*',
    'access-control-allow-methods': 'GET, POST, OPTIONS',
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

/** Answers with an error in a form that both protocols have. */
function fail(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ type: 'error', error: { message, type: 'error', param: null, code: null } }))
}

function inPieces(text: string, length: number): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${length}}`, 'g')) ?? []
}
