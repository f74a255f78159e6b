import type { FailedModel } from '../agent/error-words.ts'
import { type Provider, presetOf, presets } from '../agent/presets.ts'
import type { EndpointChoice, ModelChoice, ModelFacts } from '../agent/types.ts'
import { hasKey, takeKey } from './keys.ts'

/** A model at a server without its key, as displayed and saved. */
export interface EndpointPick extends ModelFacts {
  readonly kind: 'endpoint'
  readonly provider: Provider
  /** Empty for the provider's own address. */
  readonly baseUrl: string
  readonly model: string
}

/** The selected model without its key, as displayed and saved. */
export type ModelPick =
  | { readonly kind: 'scripted'; readonly scenario: string }
  | EndpointPick
  | { readonly kind: 'builtin' }

/** Converts the selection for the agent. The key is passed as a function, so that copies do not contain it. */
export function choiceOf(pick: ModelPick): ModelChoice {
  return pick.kind === 'endpoint' ? endpointChoiceOf(pick) : pick
}

export function endpointChoiceOf(pick: EndpointPick): EndpointChoice {
  const { baseUrl, ...others } = pick
  const key = () => takeKey(pick.provider, originOf(pick))
  return { ...others, ...(baseUrl === '' ? {} : { baseUrl }), key }
}

/** Returns the address of a model's server, or undefined when it has no valid one. */
export function addressOf(pick: ModelPick): string | undefined {
  if (pick.kind !== 'endpoint') return undefined
  const address = pick.baseUrl || presetOf(pick.provider).address
  return URL.canParse(address) ? address : undefined
}

/** What is known about a model whose request failed. */
export function failedModel(pick: ModelPick, hasBegun: boolean): FailedModel {
  return {
    address: addressOf(pick),
    hasKey: pick.kind === 'endpoint' && hasKey(pick.provider, originOf(pick)),
    page: globalThis.location?.origin ?? '',
    hasBegun,
  }
}

/** Returns the origin that the key of a model is sent to, or undefined when the address is not valid. */
export function originOf(pick: EndpointPick): string | undefined {
  const address = addressOf(pick)
  return address === undefined ? undefined : new URL(address).origin
}

/** Says in at most eight words what leaves the page with a model. */
export function whatLeaves(pick: ModelPick): string {
  if (pick.kind === 'scripted') return 'Nothing leaves this page'
  if (pick.kind === 'builtin') return 'Nothing leaves this machine'
  // Without a model and an address, none is chosen yet.
  const address = pick.model === '' && pick.baseUrl === '' ? undefined : addressOf(pick)
  return `What the agent reads goes to ${address === undefined ? 'your model' : new URL(address).host}`
}

/** Whether a model needs a key that is not there. */
export function lacksKey(pick: EndpointPick): boolean {
  return presetOf(pick.provider).needsKey && !hasKey(pick.provider, originOf(pick))
}

/** What a model takes and costs, with the facts of its provider's preset where nothing else is known. */
export function factsOf(
  pick: EndpointPick,
): ModelFacts & Required<Pick<ModelFacts, 'contextTokens' | 'takesImages' | 'takesDocuments'>> {
  const preset = presetOf(pick.provider)
  return {
    contextTokens: pick.contextTokens ?? preset.contextTokens,
    takesImages: pick.takesImages ?? preset.takesImages,
    takesDocuments: pick.takesDocuments ?? preset.takesDocuments ?? false,
    ...(pick.prices !== undefined && { prices: pick.prices }),
  }
}

const PICK = 'wardspace-playground-model'

/** The model of the person for all projects, and the endpoints that were used last. */
interface ChosenModel {
  readonly kind: ModelPick['kind']
  readonly endpoint: EndpointPick
  /** By provider, so that a change of the provider brings its model back. */
  readonly endpoints?: Readonly<Partial<Record<Provider, EndpointPick>>>
}

const noEndpoint: EndpointPick = { kind: 'endpoint', provider: 'anthropic', baseUrl: '', model: '' }
let chosen = readChosen()

/** Returns the chosen model for all projects, or undefined for the scripted one, whose scenario belongs to the project. */
export function chosenPick(): ModelPick | undefined {
  if (chosen.kind === 'builtin') return { kind: 'builtin' }
  return chosen.kind === 'endpoint' ? chosen.endpoint : undefined
}

/** The endpoint as it was set up last, at any provider or at this one. */
export function lastEndpoint(provider?: Provider): EndpointPick {
  if (provider === undefined || provider === chosen.endpoint.provider) return chosen.endpoint
  return chosen.endpoints?.[provider] ?? { ...noEndpoint, provider }
}

/** Makes a model the one for all projects, also after a reload. */
export function choosePick(pick: ModelPick): void {
  chosen =
    pick.kind === 'endpoint'
      ? { kind: pick.kind, endpoint: pick, endpoints: { ...chosen.endpoints, [pick.provider]: pick } }
      : { ...chosen, kind: pick.kind }
  try {
    localStorage.setItem(PICK, JSON.stringify(chosen))
  } catch {
    // Without local storage, the choice lasts as long as the page.
  }
}

function readChosen(): ChosenModel {
  try {
    const saved = JSON.parse(localStorage.getItem(PICK) ?? 'null') as ChosenModel | null
    if (saved?.endpoint?.kind === 'endpoint' && saved.endpoint.provider in presets) return saved
  } catch {
    // Without local storage, or with text that is not ours, nothing was chosen.
  }
  return { kind: 'scripted', endpoint: noEndpoint }
}
