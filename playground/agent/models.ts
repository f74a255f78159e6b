import type { wrapLanguageModel } from 'ai'
import type { ContextUse } from './context-window.ts'
import type { ModelChoice } from './types.ts'

/** A model of the AI SDK that a middleware can wrap. */
export type LanguageModel = Parameters<typeof wrapLanguageModel>[0]['model']

export interface OpenedModel {
  readonly model: LanguageModel
  /** For people. */
  readonly name: string
  /** How full the context was at the last request, of a model that counts it itself. */
  readonly context?: () => ContextUse | undefined
}

export interface OpenModelOptions {
  /** Milliseconds a word, for a scripted model. */
  readonly pace: number
  /** For endpoints. Default: requests go through the worker that may reach other origins. */
  readonly fetch?: typeof fetch
}

/** Opens the chosen model. Its code loads on demand. */
export async function openModel(choice: ModelChoice, options: OpenModelOptions): Promise<OpenedModel> {
  if (choice.kind === 'scripted') return (await import('./scripted.ts')).openScripted(choice.scenario, options.pace)
  if (choice.kind === 'endpoint') return (await import('./endpoint.ts')).openEndpoint(choice, options.fetch)
  return (await import('./builtin.ts')).openBuiltin()
}
