import { workInWords } from '../../src/elements/chat/call-verbs.ts'
import { Icon } from '../../src/elements/parts/icon.tsx'
import type { ProjectSession } from '../session/project-session.ts'

export interface FollowStripProps {
  readonly projectSession: ProjectSession
  readonly onApprovals: () => void
}

/** While the agent works: what it does now, and the switch that makes the stage follow it. */
export function FollowStrip({ projectSession, onApprovals }: FollowStripProps) {
  const { following, conversation, session } = projectSession
  const waiting = session.approvals.value.length
  const isFollowing = following.isOn.value
  const isWorking = conversation.isWorking.value
  if (!isWorking && waiting === 0) return null
  const call = following.call.value
  const work = waiting > 0 ? 'Waits for your approval' : call === undefined ? 'Thinks' : workInWords(call)
  return (
    <div class={`follow-strip ${isFollowing ? 'on' : ''}`}>
      <span class="pulse" aria-hidden="true" />
      <span class="cut grow">
        <strong>{isFollowing ? 'Following the agent' : 'The agent works'}</strong> <span class="muted">{work}</span>
      </span>
      {waiting > 0 && !isFollowing && (
        <button type="button" class="button primary" onClick={onApprovals}>
          Show the approval
        </button>
      )}
      {isWorking && (
        <button type="button" class="button quiet" onClick={() => following.turn(!isFollowing)}>
          <Icon name="eye" />
          {isFollowing ? 'Stop following' : 'Follow the agent'}
        </button>
      )}
    </div>
  )
}
