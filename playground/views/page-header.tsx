import type { ComponentChildren } from 'preact'
import type { ProjectSession } from '../session/project-session.ts'
import { Icon } from '../ui/icon.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { page } from './page-state.ts'
import { theme } from './theme.ts'

export function PageHeader({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const info = projectSession?.project.info
  const settings = projectSession?.session.settings.value
  const label = projectSession?.session.agentRun.value.taint.label() ?? 'public'
  const preset = typeof settings?.policy === 'string' ? settings.policy : (settings?.policy.preset ?? 'own policy')
  projectSession?.session.audit.value
  const plan = projectSession?.session.agentRun.value.plan
  return (
    <header class="page-header">
      <h1 class="row">
        <Icon name="shield" /> Wardspace
      </h1>
      <button
        type="button"
        class="button project-button"
        onClick={() => {
          page.dialog.value = 'projects'
        }}
      >
        <Icon name="box" />
        <span class="visually-hidden">Project: </span>
        <span class="cut">{info?.name ?? '…'}</span>
      </button>
      <span class="grow" />
      <RunFacts
        preset={settings === undefined ? '…' : preset}
        mode={settings?.mode}
        isPlanApproved={plan !== undefined}
        label={label}
      />
      <IconButton
        icon="theme"
        label="Change between dark and light"
        title="Dark or light"
        onClick={() => {
          theme.value = document.documentElement.dataset.theme === 'light' ? 'dark' : 'light'
        }}
      />
      <IconButton
        icon="gear"
        label="Settings"
        title="Settings"
        onClick={() => {
          page.dialog.value = 'settings'
        }}
      />
      <IconButton
        icon="help"
        label="Keys and marks"
        title="Keys and marks (F1)"
        onClick={() => {
          page.dialog.value = 'help'
        }}
      />
    </header>
  )
}

/** The policy and the taint of the run, as buttons that open their views. */
function RunFacts({
  preset,
  mode,
  isPlanApproved,
  label,
}: {
  readonly preset: string
  readonly mode: 'act' | 'plan' | undefined
  readonly isPlanApproved: boolean
  readonly label: string
}) {
  return (
    <span class="row wide-only facts-row">
      <Fact
        name="Policy"
        onOpen={() => {
          page.centre.value = 'policy'
          page.narrow.value = 'centre'
        }}
      >
        {preset}
        {mode === 'plan' && (
          <span class={`tag ${isPlanApproved ? 'good' : 'warn'}`}>
            {isPlanApproved ? 'plan approved' : 'plan first'}
          </span>
        )}
      </Fact>
      <Fact
        name="Taint"
        onOpen={() => {
          page.agent.value = 'limits'
          page.narrow.value = 'agent'
        }}
      >
        <span class={`tag taint-${label}`}>{label}</span>
      </Fact>
    </span>
  )
}

function Fact({
  name,
  onOpen,
  children,
}: {
  readonly name: string
  readonly onOpen: () => void
  readonly children: ComponentChildren
}) {
  return (
    <button type="button" class="button quiet" onClick={onOpen}>
      <span class="muted">{name}</span> {children}
    </button>
  )
}
