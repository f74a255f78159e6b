import type { ProjectSession } from '../session/project-session.ts'
import { Tabs } from '../ui/tabs.tsx'
import { LimitsView } from './limits-view.tsx'
import { type AgentView, page } from './page-state.ts'
import { TalkView } from './talk-view.tsx'
import { TimelineView } from './timeline-view.tsx'

export function AgentColumn({ desk }: { readonly desk: ProjectSession | undefined }) {
  const shown = page.agent.value
  const tabs = [
    { id: 'talk', label: 'Agent', count: shown === 'talk' ? 0 : (desk?.session.approvals.value.length ?? 0) },
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
        active={shown}
        onSelect={(id) => {
          page.agent.value = id as AgentView
        }}
      />
      <div class="column-body" role="tabpanel" id="agent-panel" aria-labelledby={`agent-tab-${shown}`}>
        {desk === undefined ? (
          <div class="skeleton" />
        ) : shown === 'talk' ? (
          <TalkView desk={desk} key={desk.project.info.id} />
        ) : shown === 'timeline' ? (
          <TimelineView desk={desk} key={desk.project.info.id} />
        ) : (
          <LimitsView desk={desk} />
        )}
      </div>
    </section>
  )
}
