import type { LanguageModelV3 } from '@ai-sdk/provider'
import type { OpenedModel } from './models.ts'
import { redactKey } from './redact-key.ts'
import type { ModelChoice } from './types.ts'

type Endpoint = Extract<ModelChoice, { kind: 'endpoint' }>

const defaultBaseUrls = { anthropic: 'https://api.anthropic.com/v1', openai: 'https://api.openai.com/v1' } as const

/** A model behind an address that the person named, asked with the person's key. */
export async function openEndpoint(endpoint: Endpoint, fetchOutside?: typeof fetch): Promise<OpenedModel> {
  const { provider, model: name, baseUrl, key } = endpoint
  if (name.trim() === '') throw new TypeError('Say which model to ask')
  const baseURL = addressOf(baseUrl ?? (provider === 'compatible' ? '' : defaultBaseUrls[provider]))
  const secret = key?.().trim() ?? ''
  if (secret === '' && provider !== 'compatible') throw new TypeError(`${titles[provider]} asks for a key`)
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
    // Their server answers a page only if it says that it knows what it does with the key.
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
    throw new TypeError(`${JSON.stringify(text)} is no address; it looks like http://localhost:11434/v1`)
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new TypeError('The address begins with https: or http:')
  // It would be kept and shown with the address.
  if (url.username !== '' || url.password !== '')
    throw new TypeError('The address must hold no password; there is a field for the key')
  return url.href.replace(/\/+$/, '')
}

/** Servers that list the headers they take from pages seldom list this one. */
function withoutAgent(fetchOutside: typeof fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers)
    headers.delete('user-agent')
    return fetchOutside(input, { ...init, headers })
  }
}
