import type { ProjectSession } from '../session/project-session.ts'
import { Tabs } from '../ui/tabs.tsx'
import { page, type SideView } from './page-state.ts'
import { SearchView } from './search-view.tsx'
import { TreeView } from './tree-view.tsx'

const tabs = [
  { id: 'files', label: 'Files' },
  { id: 'search', label: 'Search' },
]

export function SideColumn({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const view = page.side.value
  return (
    <section class="column side" aria-label="Files">
      <h2 class="visually-hidden">Files</h2>
      <Tabs
        label="Files and search"
        name="side"
        tabs={tabs}
        active={view}
        onSelect={(id) => {
          page.side.value = id as SideView
        }}
      />
      <div class="column-body" role="tabpanel" id="side-panel" aria-labelledby={`side-tab-${view}`}>
        {projectSession === undefined ? (
          <div class="skeleton" />
        ) : view === 'files' ? (
          <TreeView projectSession={projectSession} key={projectSession.project.info.id} />
        ) : (
          <SearchView projectSession={projectSession} />
        )}
      </div>
    </section>
  )
}
