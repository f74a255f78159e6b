import { counted } from '../../src/util/counted.ts'

/** An error of a model, as an event of the agent carries it. */
export interface ModelError {
  readonly message: string
  readonly retryAfterMs?: number
}

/** What is known about the model that failed. */
export interface FailedModel {
  /** The address of its server, or undefined when it has none. */
  readonly address: string | undefined
  /** Whether a key was sent to it. */
  readonly hasKey: boolean
  /** The origin of this page. */
  readonly page: string
  /** Whether the answer had begun. */
  readonly hasBegun: boolean
}

/** The longest time, in milliseconds, after which a failed request is made again without a person. */
export const MAX_WAIT = 300_000

/** Describes an error of a model in the words of a person: what happened, and what to do. The text of the server follows. */
export function errorInWords({ message, retryAfterMs = 0 }: ModelError, model: FailedModel): string {
  const [, status, text = message] = /^(\d{3}): (.*)$/s.exec(message) ?? []
  const words =
    status === undefined
      ? connectionInWords(message, model)
      : statusInWords(Number(status), retryAfterMs > 0 ? '' : text, model)
  const wait =
    retryAfterMs > MAX_WAIT
      ? ` The server asks to wait for ${durationInWords(retryAfterMs)}. Nothing is tried again until you say so.`
      : ''
  if (words === undefined) return `${message}${wait}`
  if (ofSdk.test(message)) return `${words}${wait}`
  return `${words}${wait} (${status === undefined ? message : `${status}: ${text}`})`
}

/** Messages of the AI SDK about a response, for developers. They contain nothing of the server. */
const ofSdk =
  /^(Failed to process successful response|Response stream ended without a finish reason\.?|Invalid JSON response)$/

function durationInWords(ms: number): string {
  const minutes = Math.ceil(ms / 60_000)
  if (minutes < 60) return counted(minutes, 'minute')
  const hours = Math.round(minutes / 60)
  if (hours < 48) return hours === 1 ? 'an hour' : counted(hours, 'hour')
  return counted(Math.round(hours / 24), 'day')
}

/** How servers say that an account has no credit left. */
const noCredit = /insufficient.(quota|credit|balance|funds)|credit balance/i
const noQuota = /quota.{0,10} exceeded|exceeded .{0,20}quota/i
/** How they say that a quota is that of a short time. */
const ofTime = /(retry|try again) (in|after)|retryDelay|per (second|minute|hour|day)/i

/** Whether the text of an error says that waiting is in vain, since the account has no credit left. */
export function isOutOfCredit(text: string): boolean {
  return noCredit.test(text) || (noQuota.test(text) && !ofTime.test(text))
}

function statusInWords(status: number, text: string, { address, hasKey }: FailedModel): string | undefined {
  if (status === 401) {
    return hasKey
      ? 'The server did not accept the key. Check it in the settings.'
      : 'The server asks for a key. Enter it in the settings; a reload forgets it, unless you keep it there.'
  }
  if (status === 402 || (status < 500 && isOutOfCredit(text)))
    return 'The account has no credit left. Add some at the provider, or use another key.'
  if (status === 403) {
    return isOllama(address)
      ? `Ollama does not let this page ask it. ${ollamaAdvice}`
      : 'This key may not use this model. Choose another model or key in the settings.'
  }
  if (status === 404) return 'The server does not know this model or address. Check both in the settings.'
  if (status === 408 || status === 504) return 'The server took too long to answer.'
  if (status === 413) return 'The conversation is too long for this model. Start a new one.'
  if (status === 429) return 'Too many requests, or the account has reached its limit.'
  if (status === 529 || status === 503) return 'The server is overloaded.'
  if (status >= 500) return 'The server has a problem of its own.'
  return undefined
}

const ollamaAdvice =
  'Start it with OLLAMA_ORIGINS set to the address of this page, for example “OLLAMA_ORIGINS=* ollama serve”.'

function connectionInWords(message: string, { address, page, hasBegun }: FailedModel): string | undefined {
  if (hasBegun && message.includes('without a finish reason')) {
    return 'The answer ended early: the server broke it off. Go on for the rest.'
  }
  if (
    !hasBegun &&
    /JSON parsing failed|Type validation failed|without a finish reason|Invalid JSON response/.test(message)
  ) {
    return 'The server answered in another form than that of this provider. Check provider and address in the settings.'
  }
  if (address === undefined) return undefined
  const isCutOff = message.includes('successful response')
  const isOfConnection = isCutOff || /fetch|network|terminated|connect|socket|reach/i.test(message)
  if (hasBegun && !isOfConnection) return 'The server ended the answer with an error. Try again.'
  if (!isOfConnection) return undefined
  if (hasBegun || isCutOff) return 'The connection broke off in the middle of the answer. Try again.'
  if (globalThis.navigator?.onLine === false) return 'This browser is offline.'
  const { protocol, host, hostname } = new URL(address)
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname)
  if (page.startsWith('https:') && protocol === 'http:' && !isLocal) {
    return `A page with https cannot ask ${host} over http. Use an address with https.`
  }
  if (message.includes('does not let other pages')) {
    return isOllama(address)
      ? `Ollama runs at ${host}, and does not let this page ask it. ${ollamaAdvice}`
      : `The server at ${host} runs, and does not let pages of ${page} ask it (CORS). Allow this address in its settings.`
  }
  const start = isLocal ? 'Start the server' : 'Check the address'
  const local = isOllama(address)
    ? ` If Ollama runs: ${ollamaAdvice}`
    : ` If it runs, allow pages of ${page} in its settings (CORS).`
  return `Nothing answers at ${host}. ${start}.${local}`
}

function isOllama(address: string | undefined): boolean {
  return address !== undefined && new URL(address).port === '11434'
}
