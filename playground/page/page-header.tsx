import { Icon } from '../../src/elements/parts/icon.tsx'
import { IconButton } from '../../src/elements/parts/icon-button.tsx'

export interface PageHeaderProps {
  readonly project: string | undefined
  /** Whether the agent's column is open, where it is a drawer. */
  readonly isAgentOpen: boolean
  readonly onStart: () => void
  readonly onProjects: () => void
  readonly onAgent: () => void
  readonly onTheme: () => void
  readonly onSettings: () => void
  readonly onHelp: () => void
}

export function PageHeader(props: PageHeaderProps) {
  const { project, isAgentOpen, onStart, onProjects, onAgent, onTheme, onSettings, onHelp } = props
  return (
    <header class="page-header">
      <h1>
        <button type="button" class="button quiet brand" title="What this is" onClick={onStart}>
          <Icon name="shield" size={20} /> <span class="brand-name">Wardspace</span>
        </button>
      </h1>
      <button type="button" class="button quiet project-button" onClick={onProjects}>
        <Icon name="box" />
        <span class="visually-hidden">Project: </span>
        <span class="cut">{project ?? '…'}</span>
        <Icon name="chevron" />
      </button>
      <span class="grow" />
      <button type="button" class="button quiet agent-switch" aria-pressed={isAgentOpen} onClick={onAgent}>
        <Icon name="chat" /> Agent
      </button>
      <IconButton icon="theme" label="Change between dark and light" title="Dark or light" onClick={onTheme} />
      <IconButton icon="settings" label="Settings" title="Settings" onClick={onSettings} />
      <IconButton icon="help" label="Keys and marks" title="Keys and marks (F1)" onClick={onHelp} />
    </header>
  )
}
