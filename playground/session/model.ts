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

/** Counts the changes of the key, after which an agent must open its model again. */
export const keyChanges = signal(0)

/** Sets the key. With `remember` it survives a reload of this tab. An empty key removes it everywhere. */
export function setKey(value: string, remember: boolean): void {
  if (value !== key) keyChanges.value += 1
  key = value
  hasKey.value = value !== ''
  try {
    if (remember && value !== '') sessionStorage.setItem(KEY, value)
    else sessionStorage.removeItem(KEY)
  } catch {
    // Without session storage, the key is in memory only.
  }
}

/** Keeps the present key over a reload of this tab, or only in memory. */
export function rememberKey(remember: boolean): void {
  setKey(key, remember)
}

/** Converts the selection for the agent. The key is passed as a function, so that copies do not contain it. */
export function choiceOf(pick: ModelPick): ModelChoice {
  if (pick.kind !== 'endpoint') return pick
  const { baseUrl, ...rest } = pick
  return { ...rest, ...(baseUrl === '' ? {} : { baseUrl }), key: () => key }
}

const addresses = { anthropic: 'https://api.anthropic.com/v1', openai: 'https://api.openai.com/v1' } as const

/** The address of a model's server, or undefined when it has none or no valid one. */
export function addressOf(pick: ModelPick): string | undefined {
  if (pick.kind !== 'endpoint') return undefined
  const address = pick.baseUrl !== '' || pick.provider === 'compatible' ? pick.baseUrl : addresses[pick.provider]
  return URL.canParse(address) ? address : undefined
}

type Endpoint = Extract<ModelPick, { kind: 'endpoint' }>

const PICK = 'wardspace-playground-model'

/** The model of the person for all projects, and the endpoint that was used last. */
interface ChosenModel {
  readonly kind: ModelPick['kind']
  readonly endpoint: Endpoint
}

const noEndpoint: Endpoint = { kind: 'endpoint', provider: 'anthropic', baseUrl: '', model: '' }
let chosen = readChosen()

/** The chosen model for a project; `undefined` for the scripted one, whose scenario belongs to the project. */
export function chosenPick(): ModelPick | undefined {
  if (chosen.kind === 'builtin') return { kind: 'builtin' }
  return chosen.kind === 'endpoint' ? chosen.endpoint : undefined
}

/** The endpoint as it was set up last. */
export function lastEndpoint(): Endpoint {
  return chosen.endpoint
}

/** Makes a model the one for all projects, also after a reload. */
export function choosePick(pick: ModelPick): void {
  chosen = { kind: pick.kind, endpoint: pick.kind === 'endpoint' ? pick : chosen.endpoint }
  try {
    localStorage.setItem(PICK, JSON.stringify(chosen))
  } catch {
    // Without local storage, the choice lasts as long as the page.
  }
}

function readChosen(): ChosenModel {
  try {
    const saved = JSON.parse(localStorage.getItem(PICK) ?? 'null') as ChosenModel | null
    if (saved?.endpoint?.kind === 'endpoint') return saved
  } catch {
    // Without local storage, or with text that is not ours, nothing was chosen.
  }
  return { kind: 'scripted', endpoint: noEndpoint }
}

function read(): string {
  try {
    return sessionStorage.getItem(KEY) ?? ''
  } catch {
    return ''
  }
}
