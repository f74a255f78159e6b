import type { LanguageModelV3 } from '@ai-sdk/provider'
import { describeError } from './describe-error.ts'
import { headersOf, openEndpoint, openServer } from './endpoint.ts'
import type { EndpointChoice, ModelFacts, Prices } from './types.ts'

/** A model in the list of a server. */
export interface ListedModel extends ModelFacts {
  readonly id: string
  /** Its name for people, if it is another one than the id. */
  readonly title?: string
}

/** Milliseconds after which a server is taken not to answer. */
const TIMEOUT = 20_000

/**
 * Returns the models of a server that can have a conversation, in the order of the server.
 *
 * @throws Error whose message begins with the status of the server, if it has answered
 */
export async function listModels(
  choice: Omit<EndpointChoice, 'model'>,
  fetchOutside?: typeof fetch,
): Promise<readonly ListedModel[]> {
  const server = await openServer(choice, fetchOutside)
  const isAnthropic = server.preset.protocol === 'anthropic'
  const response = await server.fetch(`${server.baseURL}/models${isAnthropic ? '?limit=1000' : ''}`, {
    headers: headersOf(server),
    signal: AbortSignal.timeout(TIMEOUT),
  })
  const text = await response.text()
  const clean = (message: string) => (server.secret === '' ? message : message.replaceAll(server.secret, '[the key]'))
  if (!response.ok) throw new Error(clean(`${response.status}: ${messageOf(text)}`))
  const body = parse(text)
  const listed: unknown = Array.isArray(body) ? body : (asFields(body).data ?? asFields(body).models)
  if (!Array.isArray(listed)) throw new Error('The server answers, but it has no list of models. Type the name.')
  return listed.flatMap((one: unknown) => modelOf(asFields(one), clean))
}

/** What a test of the connection has shown. */
export interface ConnectionTest {
  readonly ms: number
  /** Whether the model called the tool that it was asked to call. */
  readonly callsTools: boolean
}

/**
 * Asks a model for one call of a tool, as the agent would.
 *
 * @throws Error as an agent reports it
 */
export async function testConnection(choice: EndpointChoice, fetchOutside?: typeof fetch): Promise<ConnectionTest> {
  const startedAt = performance.now()
  const { model } = await openEndpoint(choice, fetchOutside)
  try {
    const { stream } = await (model as LanguageModelV3).doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'This is a test. Call the tool "ready" now.' }] }],
      tools: [
        {
          type: 'function',
          name: 'ready',
          description: 'Says that you are ready.',
          inputSchema: { type: 'object', properties: {} },
        },
      ],
      abortSignal: AbortSignal.timeout(3 * TIMEOUT),
    })
    let callsTools = false
    for await (const part of stream) {
      if (part.type === 'error') throw part.error
      if (part.type === 'tool-call') callsTools = true
    }
    return { ms: performance.now() - startedAt, callsTools }
  } catch (error) {
    throw new Error(describeError(error).message)
  }
}

type Fields = Readonly<Record<string, unknown>>

/** Kinds of models that answer no messages, as they appear in ids. */
const otherKinds =
  /embed|whisper|tts|dall-e|moderation|rerank|transcri|imagen|veo-|-image|-audio|realtime|davinci-00|babbage/i

/** Reads an entry in the forms of OpenAI, Anthropic, OpenRouter, Groq, Mistral and Ollama. */
function modelOf(fields: Fields, clean: (text: string) => string): readonly ListedModel[] {
  const id = fields.id ?? fields.name
  const { capabilities, architecture, pricing } = fields
  if (typeof id !== 'string' || otherKinds.test(id) || asFields(capabilities).completion_chat === false) return []
  const title = fields.display_name ?? (fields.id === undefined ? undefined : fields.name)
  const context = numberOf(
    fields.context_length ?? fields.context_window ?? fields.max_context_length ?? fields.max_input_tokens,
  )
  const inputs = asFields(architecture).input_modalities
  const vision = Array.isArray(inputs) ? inputs.includes('image') : asFields(capabilities).vision
  const prices = pricesOf(asFields(pricing))
  return [
    {
      id: clean(id).replace(/^models\//, ''),
      ...(typeof title === 'string' && title !== id && { title: clean(title) }),
      ...(context !== undefined && { contextTokens: context }),
      ...(typeof vision === 'boolean' && { takesImages: vision }),
      ...(Array.isArray(inputs) && { takesDocuments: inputs.includes('file') }),
      ...(prices !== undefined && { prices }),
    },
  ]
}

/** OpenRouter has prices per token, as text. */
function pricesOf({ prompt, completion }: Fields): Prices | undefined {
  const [read, written] = [Number(prompt ?? Number.NaN), Number(completion ?? Number.NaN)]
  const inMillions = (price: number) => Math.round(price * 1e6 * 1e4) / 1e4
  return read >= 0 && written >= 0 ? { read: inMillions(read), written: inMillions(written) } : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && value > 0 ? value : undefined
}

function messageOf(text: string): string {
  const { error, message } = asFields(parse(text))
  const said = asFields(error).message ?? message ?? error
  return typeof said === 'string' ? said : text.slice(0, 200)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
