import { useEffect } from 'preact/hooks'
import { Announcements } from './ui/announce.tsx'
import { Splitter } from './ui/splitter.tsx'
import { Tabs } from './ui/tabs.tsx'
import { AgentColumn } from './views/agent-column.tsx'
import { app, createFromDrop } from './views/app-state.ts'
import { CentreColumn } from './views/centre-column.tsx'
import { Dialogs } from './views/dialogs.tsx'
import { HistoryBar } from './views/history-bar.tsx'
import { Notices, ProgressNotice } from './views/notices.tsx'
import { PageHeader } from './views/page-header.tsx'
import { type NarrowView, page } from './views/page-state.ts'
import { takeKey } from './views/shortcuts.ts'
import { SideColumn } from './views/side-column.tsx'

const columns = [
  { id: 'side', label: 'Files' },
  { id: 'centre', label: 'Workspace' },
  { id: 'agent', label: 'Agent' },
]

/** The whole page: files, workspace and agent beside each other, or one at a time where it is narrow. */
export function App() {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (takeKey(event)) event.preventDefault()
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  const projectSession = app.projectSession.value
  const sizes = page.sizes.value
  const waiting = projectSession?.session.approvals.value.length ?? 0
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the projects dialog does the same without a pointer
    <div
      class="page"
      data-column={page.narrow.value}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        if (event.dataTransfer !== null) void createFromDrop(event.dataTransfer)
      }}
    >
      <PageHeader projectSession={projectSession} />
      <Notices projectSession={projectSession} />
      <nav class="narrow-tabs" aria-label="Columns">
        <Tabs
          label="Columns"
          name="column"
          tabs={columns.map((tab) => (tab.id === 'agent' ? { ...tab, count: waiting } : tab))}
          active={page.narrow.value}
          onSelect={(id) => {
            page.narrow.value = id as NarrowView
          }}
        />
      </nav>
      <main
        id="column-panel"
        class="columns"
        style={{ '--side': `${sizes.side}px`, '--agent': `${sizes.agent}px` }}
        aria-busy={projectSession === undefined}
      >
        <SideColumn projectSession={projectSession} />
        <Splitter
          label="Width of the files"
          orientation="vertical"
          size={sizes.side}
          min={160}
          max={520}
          onSize={(side) => {
            page.sizes.value = { ...page.sizes.value, side }
          }}
        />
        <CentreColumn projectSession={projectSession} />
        <Splitter
          label="Width of the agent"
          orientation="vertical"
          isAfter
          size={sizes.agent}
          min={300}
          max={760}
          onSize={(agent) => {
            page.sizes.value = { ...page.sizes.value, agent }
          }}
        />
        <AgentColumn projectSession={projectSession} />
      </main>
      <footer class="page-footer">
        {projectSession !== undefined && <HistoryBar projectSession={projectSession} />}
      </footer>
      <ProgressNotice />
      <Dialogs projectSession={projectSession} />
      <Announcements />
    </div>
  )
}
