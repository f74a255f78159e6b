import { IconButton } from '../../src/elements/parts/icon-button.tsx'
import type { ProjectSession } from '../session/project-session.ts'
import { focusView } from '../ui/focus-view.ts'
import { lazyView } from '../ui/lazy-view.tsx'
import { TreeActions, TreeView } from '../views/files/tree-view.tsx'
import { MoreList } from './more-list.tsx'
import { openFile, showCall, showChange } from './navigation.ts'
import { type PanelName, page } from './page-state.ts'

const SearchView = lazyView(async () => (await import('../views/search/search-view.tsx')).SearchView)
const ChangedFiles = lazyView(async () => (await import('../views/changes/changed-files.tsx')).ChangedFiles)
const TimelineView = lazyView(async () => (await import('../views/timeline/timeline-view.tsx')).TimelineView)
const LimitsView = lazyView(async () => (await import('../views/policy/limits-view.tsx')).LimitsView)
const RunsView = lazyView(async () => (await import('../views/report/runs-view.tsx')).RunsView)

const titles: Readonly<Record<PanelName, string>> = {
  files: 'Files',
  search: 'Search',
  changes: 'Changes',
  timeline: 'Timeline',
  policy: 'Policy and limits',
  report: 'Runs and recordings',
  more: 'More',
}

/** The panel of the chosen activity. */
export function SidePanel({
  projectSession,
  panel,
}: {
  readonly projectSession: ProjectSession | undefined
  readonly panel: PanelName
}) {
  return (
    <section class="column panel" aria-label={titles[panel]}>
      <div class="panel-head">
        <h2 class="grow cut">{titles[panel]}</h2>
        {panel === 'files' && projectSession !== undefined && (
          <TreeActions projectSession={projectSession} onOpen={(path) => openFile(projectSession, path)} />
        )}
        <IconButton
          icon="close"
          label="Close the panel"
          onClick={() => {
            page.panel.value = undefined
            focusView(`.rail [data-panel="${panel}"]`)
          }}
        />
      </div>
      <div class="column-body">
        {projectSession === undefined ? (
          <div class="skeleton" />
        ) : (
          <PanelView projectSession={projectSession} panel={panel} key={projectSession.project.info.id} />
        )}
      </div>
    </section>
  )
}

function PanelView({ projectSession, panel }: { readonly projectSession: ProjectSession; readonly panel: PanelName }) {
  const { session } = projectSession
  switch (panel) {
    case 'files':
      return (
        <TreeView
          projectSession={projectSession}
          onOpen={(path, line) => {
            openFile(projectSession, path)
            if (line !== undefined) focusView('wardspace-editor', '.cm-content')
          }}
        />
      )
    case 'search':
      return (
        <SearchView projectSession={projectSession} onOpen={(path, line) => openFile(projectSession, path, line)} />
      )
    case 'changes':
      return <ChangedFiles projectSession={projectSession} onSelect={showChange} />
    case 'timeline':
      return <TimelineView session={session} selected={page.call.value} onOpen={showCall} />
    case 'policy':
      return <LimitsView session={session} />
    case 'report':
      return <RunsView projectSession={projectSession} selected={page.run} />
    case 'more':
      return <MoreList projectSession={projectSession} />
  }
}
