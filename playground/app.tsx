import { useEffect } from 'preact/hooks'
import { Announcements } from './ui/announce.tsx'
import { Splitter } from './ui/splitter.tsx'
import { Tabs } from './ui/tabs.tsx'
import { AgentColumn } from './views/agent-column.tsx'
import { app, createFromDrop } from './views/app-state.ts'
import { CentreColumn } from './views/centre-column.tsx'
import { Dialogs } from './views/dialogs.tsx'
import { HistoryBar } from './views/history-bar.tsx'
import { DoingNotice, Notices } from './views/notices.tsx'
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
  const desk = app.desk.value
  const sizes = page.sizes.value
  const waiting = desk?.session.approvals.value.length ?? 0
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is another way to what the dialog of projects offers
    <div
      class="page"
      data-column={page.narrow.value}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault()
        if (event.dataTransfer !== null) void createFromDrop(event.dataTransfer)
      }}
    >
      <PageHeader desk={desk} />
      <Notices desk={desk} />
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
        aria-busy={desk === undefined}
      >
        <SideColumn desk={desk} />
        <Splitter
          label="Width of the files"
          orientation="vertical"
          size={sizes.side}
          least={160}
          most={520}
          onSize={(side) => {
            page.sizes.value = { ...page.sizes.value, side }
          }}
        />
        <CentreColumn desk={desk} />
        <Splitter
          label="Width of the agent"
          orientation="vertical"
          isAfter
          size={sizes.agent}
          least={300}
          most={760}
          onSize={(agent) => {
            page.sizes.value = { ...page.sizes.value, agent }
          }}
        />
        <AgentColumn desk={desk} />
      </main>
      <footer class="page-footer">{desk !== undefined && <HistoryBar desk={desk} />}</footer>
      <DoingNotice />
      <Dialogs desk={desk} />
      <Announcements />
    </div>
  )
}
