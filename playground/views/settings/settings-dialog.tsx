import { type Signal, useSignal } from '@preact/signals'
import type { Provider } from '../../agent/types.ts'
import type { Theme } from '../../page/theme.ts'
import { hasKey, lastEndpoint, rememberKey, setKey } from '../../session/model.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { type Option, Select } from '../../ui/select.tsx'

const themes = [
  { value: 'system', label: 'as the system' },
  { value: 'dark', label: 'dark' },
  { value: 'light', label: 'light' },
] as const

const providers: readonly Option<Provider>[] = [
  { value: 'anthropic', label: 'Anthropic' },
  { value: 'openai', label: 'OpenAI' },
  { value: 'compatible', label: 'OpenAI-compatible (Ollama, LM Studio, vLLM…)' },
]

const shells = [
  { value: 'bash', label: 'bash, in this page' },
  { value: 'webcontainer', label: 'WebContainer' },
] as const

/** The settings: model, shell, browser's agent and theme. */
export function SettingsDialog({
  projectSession,
  theme,
  onClose,
}: {
  readonly projectSession: ProjectSession | undefined
  readonly theme: Signal<Theme>
  readonly onClose: () => void
}) {
  return (
    <Dialog title="Settings" onClose={onClose}>
      <div class="stack">
        {projectSession !== undefined && <ModelSettings projectSession={projectSession} onClose={onClose} />}
        {projectSession !== undefined && <ShellSettings projectSession={projectSession} />}
        {projectSession !== undefined && <BrowserSettings projectSession={projectSession} />}
        <section class="stack">
          <h3>Theme</h3>
          <div class="row">
            <span class="muted">Colours</span>
            <Select
              label="Colours"
              value={theme.value}
              options={themes}
              onChange={(chosen) => {
                theme.value = chosen
              }}
            />
          </div>
        </section>
      </div>
    </Dialog>
  )
}

function ModelSettings({
  projectSession,
  onClose,
}: {
  readonly projectSession: ProjectSession
  readonly onClose: () => void
}) {
  const { pick } = projectSession.conversation
  const model = pick.value
  const key = useSignal('')
  const remember = useSignal(false)
  if (model.kind !== 'endpoint') {
    return (
      <OfflineModel
        isScripted={model.kind === 'scripted'}
        onEndpoint={() => {
          pick.value = lastEndpoint()
        }}
      />
    )
  }
  const change = (fields: Partial<typeof model>) => {
    pick.value = { ...model, ...fields }
  }
  return (
    <section class="stack">
      <h3>Model</h3>
      <div class="form">
        <span class="muted">Provider</span>
        <Select
          label="Provider"
          value={model.provider}
          options={providers}
          onChange={(provider) => change({ provider })}
        />
        <label for="base-url">Address</label>
        <input
          id="base-url"
          class="field mono"
          type="url"
          placeholder={model.provider === 'compatible' ? 'http://localhost:11434/v1' : 'the provider’s own'}
          value={model.baseUrl}
          onInput={({ currentTarget }) => change({ baseUrl: currentTarget.value.trim() })}
        />
        <label for="model">Model</label>
        <input
          id="model"
          class="field mono"
          placeholder="its name at the provider"
          value={model.model}
          onInput={({ currentTarget }) => change({ model: currentTarget.value.trim() })}
        />
        <KeyFields text={key} remember={remember} onUse={onClose} />
      </div>
      <p class="notice">
        The key stays in this page’s memory, or in this tab’s session storage if you choose so, but never in the
        project, logs, reports or recordings. With an endpoint, what the agent reads is sent there and nowhere else.
      </p>
    </section>
  )
}

/** A model that needs no endpoint, with a button to switch to one. */
function OfflineModel({ isScripted, onEndpoint }: { readonly isScripted: boolean; readonly onEndpoint: () => void }) {
  return (
    <section class="stack">
      <h3>Model</h3>
      <p>
        {isScripted
          ? 'The scripted model works offline and always plays the same script. Its results come from the real tools.'
          : 'The model that is built into this browser, if there is one. Nothing leaves this machine.'}
      </p>
      <div>
        <button type="button" class="button" onClick={onEndpoint}>
          Use your own endpoint
        </button>
      </div>
    </section>
  )
}

/** Sets the key of the endpoint as it is typed, and forgets it. */
function KeyFields({
  text,
  remember,
  onUse,
}: {
  readonly text: Signal<string>
  readonly remember: Signal<boolean>
  readonly onUse: () => void
}) {
  return (
    <>
      <label for="key">Key</label>
      <div class="row">
        <input
          id="key"
          class="field mono grow"
          type="password"
          autocomplete="off"
          placeholder={hasKey.value ? 'set' : 'none'}
          value={text.value}
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value
            setKey(text.value.trim(), remember.value)
          }}
        />
        <button type="button" class="button" disabled={text.value === ''} onClick={onUse}>
          Use
        </button>
        <button
          type="button"
          class="button"
          disabled={!hasKey.value}
          onClick={() => {
            text.value = ''
            setKey('', false)
          }}
        >
          Forget
        </button>
      </div>
      <span />
      <label class="row">
        <input
          type="checkbox"
          checked={remember.value}
          onChange={({ currentTarget }) => {
            remember.value = currentTarget.checked
            rememberKey(currentTarget.checked)
          }}
        />
        Keep the key over a reload of this tab
      </label>
    </>
  )
}

function BrowserSettings({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { isOffered, trouble, offer } = projectSession.session.webTools
  return (
    <section class="stack">
      <h3>Browser’s agent</h3>
      <label class="row">
        <input
          type="checkbox"
          checked={isOffered.value}
          onChange={({ currentTarget }) => offer(currentTarget.checked)}
        />
        Offer this project’s tools to the browser’s own agent (WebMCP)
      </label>
      {trouble.value !== undefined && <p role="alert">{trouble.value}.</p>}
      <p class="muted">
        Its calls follow the same policy, ask for approval on the same cards and appear in the timeline. A reload turns
        this off.
      </p>
    </section>
  )
}

function ShellSettings({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { session } = projectSession
  const isIsolated = globalThis.crossOriginIsolated === true
  return (
    <section class="stack">
      <h3>Shell</h3>
      <div class="row">
        <span class="muted">Commands run in</span>
        <Select
          label="Commands run in"
          value={session.settings.value.shell}
          options={shells}
          disabled={projectSession.conversation.isWorking.value}
          onChange={(shell) => void session.change({ shell })}
        />
      </div>
      <p role="status">Now: {session.shell.value}.</p>
      <p class="muted">
        bash runs over the guarded files, with its own node and npm test, offline. A WebContainer runs real Node: it is
        loaded from its vendor’s servers, needs a page isolated from other origins (this one{' '}
        {isIsolated ? 'is' : 'is not'}), and falls back to bash if it cannot start.
      </p>
    </section>
  )
}
