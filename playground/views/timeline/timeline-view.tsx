import type { Session } from '../../session/types.ts'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'

export interface TimelineViewProps {
  readonly session: Session
  /** Key of the call that is shown with all details. */
  readonly selected: string | undefined
  readonly onOpen: (key: string) => void
}

/** All calls in order, with their outcome. */
export function TimelineView({ session, selected, onOpen }: TimelineViewProps) {
  return (
    <WardspaceElement
      name="wardspace-timeline"
      properties={{ controller: session.callTimeline, selected }}
      events={{ 'wardspace-open-call': ({ detail }) => onOpen(detail.key) }}
    />
  )
}
