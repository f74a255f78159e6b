import type { LanguageModelV3 } from '@ai-sdk/provider'
import type { OpenedModel } from './models.ts'
import { redactKey } from './redact-key.ts'
import type { ModelChoice } from './types.ts'

type Endpoint = Extract<ModelChoice, { kind: 'endpoint' }>

const defaultBaseUrls = { anthropic: 'https://api.anthropic.com/v1', openai: 'https://api.openai.com/v1' } as const

/** Opens a model at an address that the person configured, with the person's key. */
export async function openEndpoint(endpoint: Endpoint, fetchOutside?: typeof fetch): Promise<OpenedModel> {
  const { provider, model: name, baseUrl, key } = endpoint
  if (name.trim() === '') throw new TypeError('Name the model to use')
  const baseURL = addressOf(baseUrl ?? (provider === 'compatible' ? '' : defaultBaseUrls[provider]))
  const secret = key?.().trim() ?? ''
  if (secret === '' && provider !== 'compatible') throw new TypeError(`${titles[provider]} requires a key`)
  const { origin } = new URL(baseURL)
  const through = withoutAgent(fetchOutside ?? (await import('../outside/fetch.ts')).outsideFetch([origin]))
  const model = await modelOf(provider, { baseURL, secret, name, fetch: through })
  return { model: redactKey(model, secret), name: `${name} at ${new URL(baseURL).host}` }
}

const titles = { anthropic: 'Anthropic', openai: 'OpenAI', compatible: 'The server' } as const

interface EndpointOptions {
  readonly baseURL: string
  readonly secret: string
  readonly name: string
  readonly fetch: typeof fetch
}

async function modelOf(
  provider: Endpoint['provider'],
  { baseURL, secret, name, fetch }: EndpointOptions,
): Promise<LanguageModelV3> {
  if (provider === 'anthropic') {
    const { createAnthropic } = await import('@ai-sdk/anthropic')
    // The server answers a page only with this header, which confirms that the key is exposed to the browser.
    const headers = { 'anthropic-dangerous-direct-browser-access': 'true' }
    return createAnthropic({ baseURL, apiKey: secret, headers, fetch })(name)
  }
  const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
  const options = { name: provider, baseURL, fetch, includeUsage: true, ...(secret !== '' && { apiKey: secret }) }
  return createOpenAICompatible(options).chatModel(name)
}

function addressOf(text: string): string {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    throw new TypeError(`${JSON.stringify(text)} is not an address such as http://localhost:11434/v1`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError('The address must begin with https: or http:')
  // A password would be stored and shown with the address.
  if (url.username !== '' || url.password !== '')
    throw new TypeError('The address must not contain a password; use the field for the key')
  return url.href.replace(/\/+$/, '')
}

/** Removes `user-agent`, a header that servers rarely allow for requests from pages. */
function withoutAgent(fetchOutside: typeof fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers)
    headers.delete('user-agent')
    return fetchOutside(input, { ...init, headers })
  }
}
