import { signal } from '@preact/signals'
import type { ModelChoice, Provider } from '../agent/types.ts'

/** Which model the agent asks, without its key: what is shown, and kept over a reload. */
export type ModelPick =
  | { readonly kind: 'scripted'; readonly scenario: string }
  | { readonly kind: 'endpoint'; readonly provider: Provider; readonly baseUrl: string; readonly model: string }
  | { readonly kind: 'builtin' }

const KEY = 'wardspace-playground-key'

/** The person's key: in this variable, and in the session's storage only where the person asked for it. */
let key = read()

/** Whether there is a key; nothing tells which. */
export const hasKey = signal(key !== '')

/** Takes the key. `remember`: over a reload of this tab. An empty one forgets it everywhere. */
export function setKey(value: string, remember: boolean): void {
  key = value
  hasKey.value = value !== ''
  try {
    if (remember && value !== '') sessionStorage.setItem(KEY, value)
    else sessionStorage.removeItem(KEY)
  } catch {
    // A browser that keeps nothing: the key is in memory only.
  }
}

/** The choice as the agent takes it: the key goes along as a function, so that no copy of the choice holds it. */
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
