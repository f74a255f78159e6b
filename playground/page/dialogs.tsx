import type { ProjectSession } from '../session/project-session.ts'
import { focusView } from '../ui/focus-view.ts'
import { lazyView } from '../ui/lazy-view.tsx'
import type { ProjectList } from '../views/projects/projects-dialog.tsx'
import {
  app,
  createProject,
  defaultStorage,
  duplicateProject,
  listProjects,
  openProject,
  projects,
  removeProject,
  showProgress,
} from './app-state.ts'
import { openFile } from './navigation.ts'
import { page } from './page-state.ts'
import { theme } from './theme.ts'

const HelpDialog = lazyView(async () => (await import('./help-dialog.tsx')).HelpDialog)
const ProjectsDialog = lazyView(async () => (await import('../views/projects/projects-dialog.tsx')).ProjectsDialog)
const QuickOpen = lazyView(async () => (await import('../views/search/quick-open.tsx')).QuickOpen)
const SettingsDialog = lazyView(async () => (await import('../views/settings/settings-dialog.tsx')).SettingsDialog)

const projectList: ProjectList = {
  all: app.list,
  defaultStorage,
  refresh: listProjects,
  open: openProject,
  create: createProject,
  remove: removeProject,
  duplicate: duplicateProject,
  async rename(id, name) {
    await projects.rename(id, name)
    await listProjects()
  },
}

/** The open dialog, if any. */
export function Dialogs({ projectSession }: { readonly projectSession: ProjectSession | undefined }) {
  const onClose = () => {
    page.dialog.value = undefined
  }
  switch (page.dialog.value) {
    case 'help':
      return <HelpDialog onClose={onClose} />
    case 'projects':
      return (
        <ProjectsDialog
          projects={projectList}
          projectSession={projectSession}
          showProgress={showProgress}
          onClose={onClose}
        />
      )
    case 'quickOpen':
      return projectSession === undefined ? null : (
        <QuickOpen
          projectSession={projectSession}
          onOpen={(path, line) => {
            openFile(projectSession, path, line)
            focusView('wardspace-editor', `.cm-content[aria-label="Text of ${CSS.escape(path)}"]`)
          }}
          onClose={onClose}
        />
      )
    case 'settings':
      return <SettingsDialog projectSession={projectSession} theme={theme} onClose={onClose} />
    case undefined:
      return null
  }
}
