import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { errorInWords } from '../agent/error-words.ts'
import { type ListedModel, listModels, testConnection } from '../agent/list-models.ts'
import type { Provider } from '../agent/presets.ts'
import { type EndpointPick, endpointChoiceOf, failedModel, lastEndpoint, type ModelPick } from './model.ts'

/** The state of a request to the server of a model. */
export type RequestState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'busy' }
  | { readonly kind: 'good' | 'warn' | 'bad'; readonly text: string }

/** Sets up the model of the person: its server, its name and what it takes. */
export interface ModelSetup {
  readonly pick: Signal<ModelPick>
  /** The models of the server. Empty until they are listed. */
  readonly models: ReadonlySignal<readonly ListedModel[]>
  readonly listing: ReadonlySignal<RequestState>
  readonly testing: ReadonlySignal<RequestState>
  /** Chooses a server with the model that was used there last. */
  chooseProvider(provider: Provider): void
  /** Changes the server or the facts of the model. */
  change(fields: Partial<EndpointPick>): void
  /** Sets the name of the model, with what the list of the server says about it. */
  chooseModel(id: string): void
  list(): Promise<void>
  test(): Promise<void>
  /** Forgets what earlier requests have shown, after a change of the server or the key. */
  forget(): void
}

const idle: RequestState = { kind: 'idle' }

export function createModelSetup(pick: Signal<ModelPick>): ModelSetup {
  const models = signal<readonly ListedModel[]>([])
  const listing = signal<RequestState>(idle)
  const testing = signal<RequestState>(idle)

  function forget(): void {
    models.value = []
    listing.value = idle
    testing.value = idle
  }

  function change(fields: Partial<EndpointPick>): void {
    if (pick.value.kind === 'endpoint') pick.value = { ...pick.value, ...fields }
  }

  /** Makes a request and shows what it says, unless the person has changed the server meanwhile. */
  async function request(
    state: Signal<RequestState>,
    ask: (endpoint: EndpointPick) => Promise<() => RequestState>,
  ): Promise<void> {
    const endpoint = pick.value
    if (endpoint.kind !== 'endpoint') return
    const busy: RequestState = { kind: 'busy' }
    state.value = busy
    const finish = await ask(endpoint).catch((error: unknown) => () => failed(endpoint, error))
    if (state.value === busy) state.value = finish()
  }

  return {
    pick,
    models,
    listing,
    testing,
    forget,
    change(fields) {
      change(fields)
      if (fields.baseUrl !== undefined) forget()
      else testing.value = idle
    },
    chooseProvider(provider) {
      pick.value = lastEndpoint(provider)
      forget()
    },
    chooseModel(id) {
      const { contextTokens, takesImages, takesDocuments, prices } = models.value.find((one) => one.id === id) ?? {}
      const { kind, provider, baseUrl } = pick.value.kind === 'endpoint' ? pick.value : lastEndpoint()
      pick.value = {
        ...{ kind, provider, baseUrl, model: id },
        ...(contextTokens !== undefined && { contextTokens }),
        ...(takesImages !== undefined && { takesImages }),
        ...(takesDocuments !== undefined && { takesDocuments }),
        ...(prices !== undefined && { prices }),
      }
      testing.value = idle
    },
    list: () =>
      request(listing, async (endpoint) => {
        const listed = await listModels(endpointChoiceOf(endpoint))
        return () => {
          models.value = listed
          const { length } = listed
          if (length === 0) return { kind: 'warn', text: 'The server has no models to talk with.' }
          return { kind: 'good', text: length === 1 ? 'The server has one model.' : `The server has ${length} models.` }
        }
      }),
    test: () =>
      request(testing, async (endpoint) => {
        const tested = await testConnection(endpointChoiceOf(endpoint))
        return () => {
          // The server answers by now.
          if (listing.value.kind === 'bad') listing.value = idle
          return answered(endpoint, tested)
        }
      }),
  }
}

function answered(
  { model }: EndpointPick,
  { ms, callsTools }: { readonly ms: number; readonly callsTools: boolean },
): RequestState {
  const text = `${model} answered in ${(ms / 1000).toFixed(1)} s`
  if (callsTools) return { kind: 'good', text: `It works: ${text} and called a tool.` }
  return {
    kind: 'warn',
    text: `${text}, but did not call the tool that it was asked to call. The agent works by calling tools.`,
  }
}

function failed(endpoint: EndpointPick, error: unknown): RequestState {
  const message = error instanceof Error ? error.message : String(error)
  return { kind: 'bad', text: errorInWords({ message }, failedModel(endpoint, false)) }
}
