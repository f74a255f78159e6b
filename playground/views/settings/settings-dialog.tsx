import type { Signal } from '@preact/signals'
import { Select } from '../../../src/elements/parts/select.tsx'
import type { Theme } from '../../page/theme.ts'
import { agentSettings } from '../../session/agent-settings.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { AgentSettingsView } from './agent-settings.tsx'
import { ModelSettings } from './model-settings.tsx'
import { NoticeSettings } from './notice-settings.tsx'

const themes = [
  { value: 'system', label: 'as the system' },
  { value: 'dark', label: 'dark' },
  { value: 'light', label: 'light' },
] as const

const shells = [
  { value: 'bash', label: 'bash, in this page' },
  { value: 'webcontainer', label: 'WebContainer' },
] as const

/** The settings: model, agent, shell, browser's agent and theme. */
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
        {projectSession !== undefined && <ModelSettings conversation={projectSession.conversation} />}
        <AgentSettingsView settings={agentSettings} />
        <NoticeSettings settings={agentSettings} />
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
