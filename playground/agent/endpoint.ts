import type { OpenedModel } from './models.ts'
import type { ModelChoice } from './types.ts'

export async function openEndpoint(choice: Extract<ModelChoice, { kind: 'endpoint' }>): Promise<OpenedModel> {
  throw new Error(`There is no ${choice.provider} yet`)
}
