import type { ProjectSession } from '../session/project-session.ts'
import { lazyView } from '../ui/lazy-view.tsx'
import { Splitter } from '../ui/splitter.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { EditorView } from './editor-view.tsx'
import { type CentreView, page } from './page-state.ts'

const ChangesView = lazyView(async () => (await import('./changes-view.tsx')).ChangesView)
const CallView = lazyView(async () => (await import('./call-view.tsx')).CallView)
const PolicyView = lazyView(async () => (await import('./policy-view.tsx')).PolicyView)
const ReportView = lazyView(async () => (await import('./report-view.tsx')).ReportView)
const TerminalView = lazyView(async () => (await import('./terminal-view.tsx')).default)

export function CentreColumn({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const view = page.centre.value
  const tabs = [
    { id: 'editor', label: 'Editor' },
    { id: 'changes', label: 'Changes', count: projectSession?.changed.value.size ?? 0 },
    { id: 'call', label: 'Call' },
    { id: 'policy', label: 'Policy' },
    { id: 'report', label: 'Report' },
  ]
  const { terminal } = page.sizes.value
  return (
    <section class="column centre" aria-label="Workspace">
      <h2 class="visually-hidden">Workspace</h2>
      <Tabs
        label="Workspace views"
        name="centre"
        tabs={tabs}
        active={view}
        onSelect={(id) => {
          page.centre.value = id as CentreView
        }}
      >
        <span class="grow" />
        <button
          type="button"
          class="button quiet"
          aria-pressed={page.terminal.value}
          onClick={() => {
            page.terminal.value = !page.terminal.value
          }}
        >
          Terminal
        </button>
      </Tabs>
      <div class="column-body" role="tabpanel" id="centre-panel" aria-labelledby={`centre-tab-${view}`}>
        {projectSession === undefined ? (
          <div class="skeleton" />
        ) : (
          <ActiveView projectSession={projectSession} view={view} key={projectSession.project.info.id} />
        )}
      </div>
      {page.terminal.value && (
        <>
          <Splitter
            label="Height of the terminal"
            orientation="horizontal"
            isAfter
            size={terminal}
            min={80}
            max={600}
            onSize={(size) => {
              page.sizes.value = { ...page.sizes.value, terminal: size }
            }}
          />
          <div class="terminal-place" style={{ height: `${terminal}px` }}>
            {projectSession === undefined ? (
              <div class="skeleton" />
            ) : (
              <TerminalView projectSession={projectSession} key={projectSession.project.info.id} />
            )}
          </div>
        </>
      )}
    </section>
  )
}

function ActiveView({ projectSession, view }: { readonly projectSession: ProjectSession; readonly view: CentreView }) {
  switch (view) {
    case 'editor':
      return <EditorView projectSession={projectSession} />
    case 'changes':
      return <ChangesView projectSession={projectSession} />
    case 'call':
      return <CallView projectSession={projectSession} />
    case 'policy':
      return <PolicyView projectSession={projectSession} />
    case 'report':
      return <ReportView projectSession={projectSession} />
  }
}
