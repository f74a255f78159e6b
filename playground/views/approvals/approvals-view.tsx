import { lastSaying } from '../../session/last-saying.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { draftsOf } from '../../session/typed-texts.ts'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'

/** The pending approvals. */
export function Approvals({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { session, conversation, texts } = projectSession
  const saying = lastSaying(conversation.items.value)
  const properties = { controller: session.approvalQueue, saying, drafts: draftsOf(texts) }
  return <WardspaceElement name="wardspace-approvals" properties={properties} />
}
