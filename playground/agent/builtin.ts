import type { OpenedModel } from './models.ts'

export async function openBuiltin(): Promise<OpenedModel> {
  throw new Error('This browser has no built-in language model')
}
