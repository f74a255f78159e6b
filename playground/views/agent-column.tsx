import type { ProjectSession } from '../session/project-session.ts'
import { lazyView } from '../ui/lazy-view.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { ConversationView } from './conversation-view.tsx'
import { LimitsView } from './limits-view.tsx'
import { type AgentView, page } from './page-state.ts'

const TimelineView = lazyView(async () => (await import('./timeline-view.tsx')).TimelineView)

export function AgentColumn({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const view = page.agent.value
  const tabs = [
    {
      id: 'conversation',
      label: 'Agent',
      count: view === 'conversation' ? 0 : (projectSession?.session.approvals.value.length ?? 0),
    },
    { id: 'timeline', label: 'Timeline' },
    { id: 'limits', label: 'Limits' },
  ]
  return (
    <section class="column agent" aria-label="Agent">
      <h2 class="visually-hidden">Agent</h2>
      <Tabs
        label="Agent views"
        name="agent"
        tabs={tabs}
        active={view}
        onSelect={(id) => {
          page.agent.value = id as AgentView
        }}
      />
      <div class="column-body" role="tabpanel" id="agent-panel" aria-labelledby={`agent-tab-${view}`}>
        {projectSession === undefined ? (
          <div class="skeleton" />
        ) : view === 'conversation' ? (
          <ConversationView projectSession={projectSession} key={projectSession.project.info.id} />
        ) : view === 'timeline' ? (
          <TimelineView projectSession={projectSession} key={projectSession.project.info.id} />
        ) : (
          <LimitsView projectSession={projectSession} />
        )}
      </div>
    </section>
  )
}
