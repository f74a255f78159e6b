import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from '@ai-sdk/provider'
import { answerSchema, instructionsFor, readAnswer, transcriptOf } from './builtin-protocol.ts'
import type { ContextUse } from './context-window.ts'
import type { OpenedModel } from './models.ts'

/** Whether the browser's own model can be used. One that is `downloadable` is downloaded for its first session. */
export type Availability = 'unavailable' | 'downloadable' | 'downloading' | 'available'

/** The used part of the Prompt API: `LanguageModel` in browsers that support it. */
export interface BuiltinApi {
  availability(): Promise<Availability>
  create(options: {
    readonly initialPrompts?: readonly { readonly role: 'system'; readonly content: string }[]
    readonly monitor?: (monitor: EventTarget) => void
    readonly signal?: AbortSignal
  }): Promise<BuiltinSession>
}

interface BuiltinSession {
  prompt(text: string, options: { readonly responseConstraint: object; readonly signal?: AbortSignal }): Promise<string>
  /** Tokens of the conversation so far, and those that it can have. Formerly called `inputUsage` and `inputQuota`. */
  readonly contextUsage?: number
  readonly contextWindow?: number
  readonly inputUsage?: number
  readonly inputQuota?: number
  destroy(): void
}

/** The state of the browser's own model. */
export interface BuiltinState {
  /** Its API, if it can be used. */
  readonly api: BuiltinApi | undefined
  readonly availability: Availability
  /** A sentence about it. */
  readonly says: string
}

export async function builtinState(
  api = (globalThis as { LanguageModel?: BuiltinApi }).LanguageModel,
): Promise<BuiltinState> {
  const availability = (await api?.availability()) ?? 'unavailable'
  const says = {
    unavailable:
      api === undefined
        ? 'This browser has no language model of its own. Choose another model.'
        : 'The language model of this browser does not run on this machine. Choose another model.',
    downloadable: 'Runs on this machine, once the browser has downloaded it; that may take a while.',
    downloading: 'The browser downloads it; that may take a while.',
    available: 'Runs on this machine.',
  }[availability]
  return { api: availability === 'unavailable' ? undefined : api, availability, says }
}

/** Lets the browser download its model. @param onProgress gets the downloaded part, from 0 to 1 */
export async function downloadBuiltin(api: BuiltinApi, onProgress: (part: number) => void): Promise<void> {
  const session = await api.create({ monitor: monitorOf(onProgress) })
  session.destroy()
}

function monitorOf(onProgress: (part: number) => void): (monitor: EventTarget) => void {
  return (monitor) =>
    monitor.addEventListener('downloadprogress', (event) => {
      // The whole is 1.
      const { loaded, total = 1 } = event as ProgressEvent
      onProgress(loaded / (total || 1))
    })
}

/**
 * Opens the browser's own model. It has no tool support: the tools are described in its prompt, and its answers are
 * constrained to a JSON schema.
 */
export async function openBuiltin(): Promise<OpenedModel> {
  const { api, says } = await builtinState()
  if (api === undefined) throw new Error(says)
  let use: ContextUse | undefined
  const model = builtinModel(api, (context) => {
    use = context
  })
  return { model, name: 'The browser’s own model', context: () => use }
}

/** Adapts the browser's model to the interface of the SDK. @param onUse gets how full its context was after each answer */
export function builtinModel(api: BuiltinApi, onUse: (use: ContextUse) => void = () => {}): LanguageModelV3 {
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
      const used = session.contextUsage ?? session.inputUsage
      const limit = session.contextWindow ?? session.inputQuota
      if (used !== undefined) onUse({ tokens: used, limit: Number.isFinite(limit) ? limit : undefined })
      return { ...readAnswer(text), used }
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
