import type { ProjectSession } from '../session/project-session.ts'
import { HistoryBar } from '../views/timeline/history-bar.tsx'
import { focusGoBack, leavePast, showPast } from './navigation.ts'
import { layout, page } from './page-state.ts'

export interface HistoryProps {
  readonly projectSession: ProjectSession
  readonly id?: string
}

/** The line of the history, which brings the files of the past onto the stage. */
export function History({ projectSession, id }: HistoryProps) {
  return (
    <HistoryBar
      projectSession={projectSession}
      id={id}
      past={page.past.value?.point}
      // On a phone, the stage would cover the line under the finger.
      isLive={layout.value !== 'phone' || page.past.value !== undefined}
      onPast={showPast}
      onNow={leavePast}
      onEnter={focusGoBack}
    />
  )
}
