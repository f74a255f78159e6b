/** The streaming protocol of a server. */
export type Protocol = 'openai' | 'anthropic'

/** A provider of models, or a kind of local server. */
export interface Preset {
  readonly title: string
  readonly protocol: Protocol
  /** The address that its API begins with. Empty if it has none of its own. */
  readonly address: string
  readonly needsKey: boolean
  /** Where a person gets a key. */
  readonly keysAt?: string
  /** The context of its models in tokens, where its list of models does not say it. */
  readonly contextTokens: number
  /** Whether its models usually take images. */
  readonly takesImages: boolean
  /** Whether its models usually take PDF documents, in the form of its protocol. */
  readonly takesDocuments?: boolean
  /** What a person has to know before the first message. */
  readonly advice?: string
}

const ollamaAdvice =
  'Start it with OLLAMA_ORIGINS set to the address of this page, and OLLAMA_CONTEXT_LENGTH=32768: Ollama cuts longer conversations without a word.'

export const presets = {
  anthropic: {
    title: 'Anthropic',
    protocol: 'anthropic',
    address: 'https://api.anthropic.com/v1',
    needsKey: true,
    keysAt: 'https://console.anthropic.com/settings/keys',
    contextTokens: 200_000,
    takesImages: true,
    takesDocuments: true,
  },
  openai: {
    title: 'OpenAI',
    protocol: 'openai',
    address: 'https://api.openai.com/v1',
    needsKey: true,
    keysAt: 'https://platform.openai.com/api-keys',
    contextTokens: 128_000,
    takesImages: true,
    takesDocuments: true,
  },
  gemini: {
    title: 'Google Gemini',
    protocol: 'openai',
    address: 'https://generativelanguage.googleapis.com/v1beta/openai',
    needsKey: true,
    keysAt: 'https://aistudio.google.com/apikey',
    contextTokens: 1_000_000,
    takesImages: true,
  },
  openrouter: {
    title: 'OpenRouter',
    protocol: 'openai',
    address: 'https://openrouter.ai/api/v1',
    needsKey: true,
    keysAt: 'https://openrouter.ai/keys',
    contextTokens: 128_000,
    takesImages: false,
  },
  groq: {
    title: 'Groq',
    protocol: 'openai',
    address: 'https://api.groq.com/openai/v1',
    needsKey: true,
    keysAt: 'https://console.groq.com/keys',
    contextTokens: 128_000,
    takesImages: false,
  },
  mistral: {
    title: 'Mistral',
    protocol: 'openai',
    address: 'https://api.mistral.ai/v1',
    needsKey: true,
    keysAt: 'https://console.mistral.ai/api-keys',
    contextTokens: 128_000,
    takesImages: false,
  },
  ollama: {
    title: 'Ollama, on this machine',
    protocol: 'openai',
    address: 'http://localhost:11434/v1',
    needsKey: false,
    contextTokens: 32_768,
    takesImages: false,
    advice: ollamaAdvice,
  },
  lmstudio: {
    title: 'LM Studio, on this machine',
    protocol: 'openai',
    address: 'http://localhost:1234/v1',
    needsKey: false,
    contextTokens: 32_768,
    takesImages: false,
    advice:
      'Switch on “Enable CORS” in its server settings, and load the model with a context of 32,768 tokens or more.',
  },
  compatible: {
    title: 'Another server with OpenAI’s protocol',
    protocol: 'openai',
    address: '',
    needsKey: false,
    contextTokens: 32_768,
    takesImages: false,
  },
} as const satisfies Readonly<Record<string, Preset>>

export type Provider = keyof typeof presets

export function presetOf(provider: Provider): Preset {
  return presets[provider]
}
