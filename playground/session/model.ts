import { signal } from '@preact/signals'
import type { ModelChoice, Provider } from '../agent/types.ts'

/** The selected model without its key, as displayed and saved. */
export type ModelPick =
  | { readonly kind: 'scripted'; readonly scenario: string }
  | { readonly kind: 'endpoint'; readonly provider: Provider; readonly baseUrl: string; readonly model: string }
  | { readonly kind: 'builtin' }

const KEY = 'wardspace-playground-key'

/** The person's key. Stored in this variable, and in session storage only if the person asked for it. */
let key = read()

/** Whether a key is set. The key itself is not exposed. */
export const hasKey = signal(key !== '')

/** Sets the key. With `remember` it survives a reload of this tab. An empty key removes it everywhere. */
export function setKey(value: string, remember: boolean): void {
  key = value
  hasKey.value = value !== ''
  try {
    if (remember && value !== '') sessionStorage.setItem(KEY, value)
    else sessionStorage.removeItem(KEY)
  } catch {
    // Without session storage, the key is in memory only.
  }
}

/** Converts the selection for the agent. The key is passed as a function, so that copies do not contain it. */
export function choiceOf(pick: ModelPick): ModelChoice {
  if (pick.kind !== 'endpoint') return pick
  const { baseUrl, ...rest } = pick
  return { ...rest, ...(baseUrl === '' ? {} : { baseUrl }), ...(key === '' ? {} : { key: () => key }) }
}

function read(): string {
  try {
    return sessionStorage.getItem(KEY) ?? ''
  } catch {
    return ''
  }
}
