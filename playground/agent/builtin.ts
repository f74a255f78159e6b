import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { answerSchema, instructionsFor, readAnswer, transcriptOf } from './builtin-protocol.ts'
import type { OpenedModel } from './models.ts'

/** The used part of the Prompt API: `LanguageModel` in browsers that support it. */
export interface BuiltinApi {
  availability(): Promise<'unavailable' | 'downloadable' | 'downloading' | 'available'>
  create(options: {
    readonly initialPrompts: readonly { readonly role: 'system'; readonly content: string }[]
    readonly signal?: AbortSignal
  }): Promise<BuiltinSession>
}

interface BuiltinSession {
  prompt(text: string, options: { readonly responseConstraint: object; readonly signal?: AbortSignal }): Promise<string>
  /** Tokens of the conversation so far; formerly called `inputUsage`. */
  readonly contextUsage?: number
  readonly inputUsage?: number
  destroy(): void
}

/** Returns the API of the browser's own model, if it is available, and a sentence about its state. */
export async function builtinState(
  api = (globalThis as { LanguageModel?: BuiltinApi }).LanguageModel,
): Promise<{ readonly api: BuiltinApi | undefined; readonly says: string }> {
  if (api === undefined) return { api, says: 'This browser has no language model of its own. Choose another model.' }
  const state = await api.availability()
  if (state === 'unavailable') {
    return {
      api: undefined,
      says: 'The language model of this browser does not run on this machine. Choose another model.',
    }
  }
  if (state === 'available') return { api, says: 'Runs on this machine' }
  return { api, says: 'Runs on this machine, once the browser has loaded it; that may take a while' }
}

/**
 * Opens the browser's own model. It has no tool support: the tools are described in its prompt, and its answers are
 * constrained to a JSON schema.
 */
export async function openBuiltin(): Promise<OpenedModel> {
  const { api, says } = await builtinState()
  if (api === undefined) throw new Error(says)
  return { model: builtinModel(api), name: 'The browser’s own model' }
}

/** Adapts the browser's model to the interface of the SDK. */
export function builtinModel(api: BuiltinApi): LanguageModelV3 {
  let calls = 0

  async function ask({ prompt, tools = [], abortSignal }: LanguageModelV3CallOptions) {
    const functionTools = tools.filter((tool) => tool.type === 'function')
    const signal = abortSignal === undefined ? {} : { signal: abortSignal }
    const session = await api.create({
      initialPrompts: [{ role: 'system', content: instructionsFor(prompt, functionTools) }],
      ...signal,
    })
    try {
      const text = await session.prompt(transcriptOf(prompt), {
        responseConstraint: answerSchema(functionTools.map(({ name }) => name)),
        ...signal,
      })
      return { ...readAnswer(text), used: session.contextUsage ?? session.inputUsage }
    } finally {
      session.destroy()
    }
  }

  async function createParts(options: LanguageModelV3CallOptions): Promise<LanguageModelV3StreamPart[]> {
    const { say, call, used } = await ask(options)
    const parts: LanguageModelV3StreamPart[] = [{ type: 'stream-start', warnings: [] }]
    if (say !== '') {
      parts.push(
        { type: 'text-start', id: '0' },
        { type: 'text-delta', id: '0', delta: say },
        { type: 'text-end', id: '0' },
      )
    }
    if (call !== undefined) {
      calls += 1
      const toolCallId = `builtin-${Date.now().toString(36)}-${calls}`
      parts.push({ type: 'tool-call', toolCallId, toolName: call.tool, input: JSON.stringify(call.input) })
    }
    parts.push({
      type: 'finish',
      finishReason: { unified: call === undefined ? 'stop' : 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: used, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: undefined, text: undefined, reasoning: undefined },
      },
    })
    return parts
  }

  return {
    specificationVersion: 'v3',
    provider: 'browser',
    modelId: 'builtin',
    supportedUrls: {},
    async doGenerate() {
      throw new Error('The browser’s model only supports streaming')
    },
    async doStream(options) {
      const parts = await createParts(options)
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part)
            controller.close()
          },
        }),
      }
    },
  }
}
