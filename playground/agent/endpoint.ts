import type { LanguageModelV3 } from '@ai-sdk/provider'
import { withoutEndSlashes } from '../../src/util/slashes.ts'
import { addressFault } from './address.ts'
import type { OpenedModel } from './models.ts'
import { type Preset, presetOf } from './presets.ts'
import { redactKey } from './redact-key.ts'
import type { EndpointChoice } from './types.ts'

/** The server of a model, and what reaches it. */
export interface OpenedServer {
  readonly preset: Preset
  readonly baseURL: string
  /** The person's key, or an empty text for a server without one. */
  readonly secret: string
  readonly fetch: typeof fetch
}

/** Opens a model at an address that the person configured, with the person's key. */
export async function openEndpoint(choice: EndpointChoice, fetchOutside?: typeof fetch): Promise<OpenedModel> {
  const name = choice.model.trim()
  if (name === '') throw new TypeError('Name the model to use')
  const server = await openServer(choice, fetchOutside)
  const model = await modelOf(server, name)
  return { model: redactKey(model, server.secret), name: `${name} at ${new URL(server.baseURL).host}` }
}

/**
 * Prepares requests to the server of a model.
 *
 * @throws TypeError if the address is not valid or the key is missing
 */
export async function openServer(
  { provider, baseUrl, key }: Omit<EndpointChoice, 'model'>,
  fetchOutside?: typeof fetch,
): Promise<OpenedServer> {
  const preset = presetOf(provider)
  const baseURL = parseAddress(baseUrl ?? preset.address)
  const secret = key?.().trim() ?? ''
  if (secret === '' && preset.needsKey)
    throw new TypeError(
      `${preset.title} requires a key. Enter it in the settings; a reload forgets it, unless you keep it there.`,
    )
  const { origin } = new URL(baseURL)
  const through = withoutAgent(fetchOutside ?? (await import('../outside/fetch.ts')).outsideFetch([origin]))
  return { preset, baseURL, secret, fetch: through }
}

/** The headers of requests without the SDK. */
export function headersOf({ preset, secret }: OpenedServer): Readonly<Record<string, string>> {
  if (preset.protocol === 'anthropic') {
    return { ...anthropicHeaders, 'anthropic-version': '2023-06-01', 'x-api-key': secret }
  }
  return secret === '' ? {} : { authorization: `Bearer ${secret}` }
}

/** The server answers a page only with this header, which confirms that the key is exposed to the browser. */
const anthropicHeaders = { 'anthropic-dangerous-direct-browser-access': 'true' }

async function modelOf({ preset, baseURL, secret, fetch }: OpenedServer, name: string): Promise<LanguageModelV3> {
  if (preset.protocol === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    return createAnthropic({ baseURL, apiKey: secret, headers: anthropicHeaders, fetch })(name)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const options = { name: 'endpoint', baseURL, fetch, includeUsage: true, ...(secret !== '' && { apiKey: secret }) }
  return createOpenAICompatible(options).chatModel(name)
}

function parseAddress(text: string): string {
  const fault = addressFault(text)
  if (fault !== undefined) throw new TypeError(fault)
  return withoutEndSlashes(new URL(text).href)
}

/** Removes `user-agent`, a header that servers rarely allow for requests from pages. */
function withoutAgent(fetchOutside: typeof fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers)
    headers.delete('user-agent')
    return fetchOutside(input, { ...init, headers })
  }
}
