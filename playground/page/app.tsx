import { useEffect } from 'preact/hooks'
import type { ProjectSession } from '../session/project-session.ts'
import { Announcements } from '../ui/announce.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { ActivityRail, activities } from './activity-rail.tsx'
import { AgentColumn } from './agent-column.tsx'
import { app, createFromDrop } from './app-state.ts'
import { ApprovalSheet } from './approval-sheet.tsx'
import { Dialogs } from './dialogs.tsx'
import { openActivity, showPanel, showPhoneTab, showStage, togglePanel } from './navigation.ts'
import { Notices, ProgressNotice } from './notices.tsx'
import { PageHeader } from './page-header.tsx'
import { layout, page } from './page-state.ts'
import { PhoneTabs } from './phone-tabs.tsx'
import { takeKey } from './shortcuts.ts'
import { SidePanel } from './side-panel.tsx'
import { Stage } from './stage.tsx'
import { StatusLine } from './status-line.tsx'
import { theme } from './theme.ts'

/** The whole page: activities, side panel, stage and agent beside each other, or one at a time on a phone. */
export function App() {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (takeKey(event)) event.preventDefault()
    }
    // With Caps Lock, the editor takes the key of the search in all files for its own search.
    const onSearchKey = (event: KeyboardEvent) => {
      if (!event.shiftKey || event.key.toLowerCase() !== 'f' || !takeKey(event)) return
      event.preventDefault()
      event.stopPropagation()
    }
    addEventListener('keydown', onSearchKey, true)
    addEventListener('keydown', onKeyDown)
    return () => {
      removeEventListener('keydown', onSearchKey, true)
      removeEventListener('keydown', onKeyDown)
    }
  }, [])
  const projectSession = app.projectSession.value
  const changed = projectSession?.changedCount.value ?? 0
  const waiting = projectSession?.session.approvals.value ?? []
  const isPhone = layout.value === 'phone'
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the projects dialog does the same without a pointer
    <div
      class="page"
      data-layout={layout.value}
      data-show={page.isStageUp.value ? 'stage' : page.phone.value === 'agent' ? 'agent' : 'panel'}
      data-agent={page.agent.value ? 'open' : 'closed'}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        // What is dragged within the page has no files.
        if (event.dataTransfer?.types.includes('Files')) void createFromDrop(event.dataTransfer)
      }}
    >
      <Header projectSession={projectSession} />
      <Notices projectSession={projectSession} />
      <Body projectSession={projectSession} changed={changed} />
      {isPhone && waiting.length > 0 && projectSession !== undefined && (
        <ApprovalSheet projectSession={projectSession} pending={waiting} />
      )}
      {isPhone ? (
        <PhoneTabs active={page.phone.value} changed={changed} waiting={waiting.length} onSelect={showPhoneTab} />
      ) : projectSession === undefined ? (
        <footer class="status-line" />
      ) : (
        <StatusLine
          projectSession={projectSession}
          onPolicy={() => showPanel('policy')}
          onChanges={() => showPanel('changes')}
        />
      )}
      <ProgressNotice />
      <Dialogs projectSession={projectSession} />
      <Announcements />
    </div>
  )
}

interface PartProps {
  readonly projectSession: ProjectSession | undefined
}

function Header({ projectSession }: PartProps) {
  const info = projectSession?.project.info
  // The list has the present name of a project that was renamed while it is open.
  const name = app.list.value.find(({ id }) => id === info?.id)?.name ?? info?.name
  const open = (dialog: 'projects' | 'settings' | 'help') => () => {
    page.dialog.value = dialog
  }
  return (
    <PageHeader
      project={name}
      isAgentOpen={page.agent.value}
      onStart={() => showStage('start')}
      onProjects={open('projects')}
      onAgent={() => {
        page.agent.value = !page.agent.value
      }}
      onTheme={() => {
        theme.value = document.documentElement.dataset.theme === 'light' ? 'dark' : 'light'
      }}
      onSettings={open('settings')}
      onHelp={open('help')}
    />
  )
}

function Body({ projectSession, changed }: PartProps & { readonly changed: number }) {
  const sizes = page.sizes.value
  const isPhone = layout.value === 'phone'
  const panel = page.panel.value ?? (isPhone ? 'files' : undefined)
  return (
    <main
      class="columns"
      style={{ '--panel-width': `${sizes.panel}px`, '--agent-width': `${sizes.agent}px` }}
      aria-busy={projectSession === undefined}
    >
      {!isPhone && <ActivityRail activities={activities(changed)} active={openActivity()} onSelect={togglePanel} />}
      {panel !== undefined && <SidePanel projectSession={projectSession} panel={panel} />}
      {panel !== undefined && layout.value === 'wide' && (
        <Splitter
          label="Width of the panel"
          orientation="vertical"
          size={sizes.panel}
          min={180}
          max={520}
          onSize={(width) => {
            page.sizes.value = { ...page.sizes.value, panel: width }
          }}
        />
      )}
      <Stage projectSession={projectSession} />
      {layout.value === 'wide' && (
        <Splitter
          label="Width of the agent"
          orientation="vertical"
          isAfter
          size={sizes.agent}
          min={320}
          max={760}
          onSize={(width) => {
            page.sizes.value = { ...page.sizes.value, agent: width }
          }}
        />
      )}
      <AgentColumn projectSession={projectSession} />
    </main>
  )
}
