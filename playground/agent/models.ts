import type { LanguageModel } from 'ai'
import type { ModelChoice } from './types.ts'

export interface OpenedModel {
  readonly model: LanguageModel
  /** For people. */
  readonly name: string
}

/** Opens the model that was chosen. What it needs is loaded now, and never before. */
export async function openModel(choice: ModelChoice, { pace }: { readonly pace: number }): Promise<OpenedModel> {
  if (choice.kind === 'scripted') return (await import('./scripted.ts')).openScripted(choice.scenario, pace)
  if (choice.kind === 'endpoint') return (await import('./endpoint.ts')).openEndpoint(choice)
  return (await import('./builtin.ts')).openBuiltin()
}
