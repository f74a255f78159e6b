import type { ProjectSession } from '../../session/project-session.ts'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'
import { useReview } from './use-review.ts'

export interface ChangedFilesProps {
  readonly projectSession: Pick<ProjectSession, 'review'>
  readonly onSelect: (path: string) => void
}

/** The files that differ from the project as it was first opened here, as a tree. */
export function ChangedFiles({ projectSession, onSelect }: ChangedFilesProps) {
  const controller = useReview(projectSession)
  if (controller === undefined) return <div class="skeleton" />
  return (
    <WardspaceElement
      name="wardspace-diff"
      properties={{ controller, view: 'files' }}
      events={{ 'wardspace-open-change': ({ detail }) => onSelect(detail.path) }}
    />
  )
}
