import type { ProjectSession } from '../session/project-session.ts'
import { ConversationView } from '../views/agent/conversation-view.tsx'
import { chooseScenario } from './app-state.ts'
import { openFile, showCall, showPanel, showStage } from './navigation.ts'
import { page } from './page-state.ts'
import { goToChanges } from './shortcuts.ts'

export function AgentColumn({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  return (
    <section class="column agent-column" aria-label="Agent">
      <h2 class="visually-hidden">Agent</h2>
      {projectSession === undefined ? (
        <div class="skeleton" />
      ) : (
        <ConversationView
          projectSession={projectSession}
          onCall={showCall}
          onScenario={(id) => void chooseScenario(id)}
          onSettings={() => {
            page.dialog.value = 'settings'
          }}
          onReview={goToChanges}
          onReport={(runId) => {
            page.run.value = runId
            showStage('report')
          }}
          onShow={(suggestion) => {
            if ('file' in suggestion) openFile(projectSession, suggestion.file)
            else showPanel(suggestion.view)
          }}
          key={projectSession.project.info.id}
        />
      )}
    </section>
  )
}
