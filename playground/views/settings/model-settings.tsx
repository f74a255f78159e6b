import './settings.css'
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { type Option, Select } from '../../../src/elements/parts/select.tsx'
import { addressFault } from '../../agent/address.ts'
import { type Provider, presetOf, presets } from '../../agent/presets.ts'
import { areKeysKept, hasKey, otherOriginOf, rememberKeys, setKey } from '../../session/keys.ts'
import { type EndpointPick, factsOf, lastEndpoint, originOf } from '../../session/model.ts'
import { createModelSetup, type ModelSetup, type RequestState } from '../../session/model-setup.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { focusView } from '../../ui/focus-view.ts'
import { ModelField } from './model-field.tsx'
import { FieldFault, NumberField } from './number-field.tsx'

const providers: readonly Option<Provider>[] = (Object.keys(presets) as Provider[]).map((value) => ({
  value,
  label: presetOf(value).title,
}))

/** The choice of a model of one's own. */
export function ModelSettings({ conversation }: { readonly conversation: ProjectSession['conversation'] }) {
  const { pick } = conversation
  const setup = useMemo(() => createModelSetup(pick), [pick])
  const model = pick.value
  if (model.kind === 'endpoint') return <EndpointSettings setup={setup} endpoint={model} />
  return (
    <section class="stack">
      <h3>Model</h3>
      <p>
        {model.kind === 'scripted'
          ? 'The scripted model works offline and always plays the same script. Its results come from the real tools.'
          : 'The model that is built into this browser, if there is one. Nothing leaves this machine.'}
      </p>
      <div>
        <button
          type="button"
          class="button"
          onClick={() => {
            pick.value = lastEndpoint()
            // This button disappears.
            focusView('[aria-label="Provider"]')
          }}
        >
          Use my own model
        </button>
      </div>
    </section>
  )
}

function EndpointSettings({ setup, endpoint }: { readonly setup: ModelSetup; readonly endpoint: EndpointPick }) {
  const preset = presetOf(endpoint.provider)
  const fault = endpoint.baseUrl === '' ? undefined : addressFault(endpoint.baseUrl)
  return (
    <section class="stack">
      <h3>Model</h3>
      <div class="form">
        <span class="muted">Provider</span>
        <Select label="Provider" value={endpoint.provider} options={providers} onChange={setup.chooseProvider} />
        <label for="base-url">Address</label>
        <input
          id="base-url"
          class="field mono"
          type="url"
          placeholder={preset.address || 'http://localhost:8000/v1'}
          value={endpoint.baseUrl}
          aria-invalid={fault !== undefined}
          aria-describedby={fault === undefined ? undefined : 'base-url-wrong'}
          onInput={({ currentTarget }) => setup.change({ baseUrl: currentTarget.value.trim() })}
        />
        {fault !== undefined && <FieldFault id="base-url-wrong">{fault}</FieldFault>}
        <KeyFields key={endpoint.provider} setup={setup} endpoint={endpoint} />
        <label for="model">Model</label>
        <ModelField setup={setup} model={endpoint.model} />
        <span />
        <div class="stack">
          <Answer state={setup.listing.value} />
          <div>
            <button
              type="button"
              class="button primary"
              disabled={endpoint.model === '' || setup.testing.value.kind === 'busy'}
              onClick={() => void setup.test()}
            >
              {setup.testing.value.kind === 'busy' ? 'Testing…' : 'Test connection'}
            </button>
          </div>
          <Answer state={setup.testing.value} />
        </div>
      </div>
      {preset.advice !== undefined && <p class="notice">{preset.advice}</p>}
      <Facts setup={setup} endpoint={endpoint} />
      <p class="muted">
        Keys stay in this page’s memory, or in this tab’s session storage if you choose so, but never in the project,
        logs, reports or recordings. What the agent reads is sent to this server and nowhere else.
      </p>
    </section>
  )
}

/** What a request to the server has shown. Empty until one is made, so that screen readers notice the text. */
function Answer({ state }: { readonly state: RequestState }) {
  const isShown = state.kind !== 'idle' && state.kind !== 'busy'
  return (
    <div role="status" class={isShown ? `notice ${state.kind}` : 'no-answer'}>
      {isShown && state.text}
    </div>
  )
}

/** Sets the key of the endpoint as it is typed, and forgets it. */
function KeyFields({ setup, endpoint }: { readonly setup: ModelSetup; readonly endpoint: EndpointPick }) {
  const { provider } = endpoint
  const preset = presetOf(provider)
  const text = useSignal('')
  const remember = useSignal(areKeysKept())
  const isSet = hasKey(provider, originOf(endpoint))
  const other = otherOriginOf(provider, originOf(endpoint))
  const set = (key: string) => {
    text.value = key
    setKey(provider, key.trim(), remember.value)
    setup.forget()
  }
  return (
    <>
      <label for="key">Key</label>
      <div class="row">
        <input
          id="key"
          class="field mono grow"
          type="password"
          autocomplete="off"
          placeholder={isSet ? 'set' : preset.needsKey ? 'needed' : 'none; most servers on this machine need none'}
          value={text.value}
          onInput={({ currentTarget }) => set(currentTarget.value)}
        />
        <button type="button" class="button" disabled={!isSet} onClick={() => set('')}>
          Forget
        </button>
      </div>
      <span />
      <div class="row wrap">
        <label class="row">
          <input
            type="checkbox"
            checked={remember.value}
            onChange={({ currentTarget }) => {
              remember.value = currentTarget.checked
              rememberKeys(currentTarget.checked)
            }}
          />
          Keep the key over a reload of this tab
        </label>
        <span class="grow" />
        {preset.keysAt !== undefined && (
          <a class="button quiet" href={preset.keysAt} target="_blank" rel="noreferrer">
            Get a key
          </a>
        )}
      </div>
      {other !== undefined && (
        <p class="notice warn form-row">
          The key belongs to {other}, where it was used first, and is not sent to another server. Type it again to use
          it here.
        </p>
      )}
    </>
  )
}

/** What the model takes and costs, where the person knows better than the server. */
function Facts({ setup, endpoint }: { readonly setup: ModelSetup; readonly endpoint: EndpointPick }) {
  const { contextTokens, takesImages, takesDocuments, prices = { read: 0, written: 0 } } = factsOf(endpoint)
  return (
    <details>
      <summary>Context, images and prices</summary>
      <div class="form wide">
        <NumberField
          id="context-tokens"
          label="Context in tokens"
          value={contextTokens}
          min={2_000}
          isWhole
          onNumber={(tokens) => setup.change({ contextTokens: tokens })}
        />
        <NumberField
          id="price-read"
          label="Dollars per million tokens read"
          value={prices.read}
          isMoney
          onNumber={(read) => setup.change({ prices: { ...prices, read } })}
        />
        <NumberField
          id="price-written"
          label="Dollars per million tokens written"
          value={prices.written}
          isMoney
          onNumber={(written) => setup.change({ prices: { ...prices, written } })}
        />
        <span />
        <label class="row">
          <input
            type="checkbox"
            checked={takesImages}
            onChange={({ currentTarget }) => setup.change({ takesImages: currentTarget.checked })}
          />
          The model takes images
        </label>
        <span />
        <label class="row">
          <input
            type="checkbox"
            checked={takesDocuments}
            onChange={({ currentTarget }) => setup.change({ takesDocuments: currentTarget.checked })}
          />
          The model takes PDF documents
        </label>
      </div>
    </details>
  )
}
