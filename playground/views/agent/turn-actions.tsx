import { Icon } from '../../../src/elements/parts/icon.tsx'
import type { ProjectSession } from '../../session/project-session.ts'
import { isCutOff } from '../../session/turn-words.ts'

export interface TurnActionsProps {
  readonly conversation: ProjectSession['conversation']
  /** False while another tab has the project. */
  readonly isWritable: boolean
  /** Whether there is no message to send. */
  readonly isEmpty: boolean
  /** Sends the message for one step. */
  readonly onStep: () => void
}

/** What can be done while the agent is idle, beside sending a message. */
export function TurnActions({ conversation, isWritable, isEmpty, onStep }: TurnActionsProps) {
  const canContinue = conversation.canContinue.value
  return (
    <div slot="actions" class="turn-actions">
      {canContinue && (
        <button type="button" class="button" disabled={!isWritable} onClick={() => void conversation.next()}>
          <Icon name="step" /> Next step
        </button>
      )}
      {canContinue || isCutOff(conversation.items.value) ? (
        <button type="button" class="button" disabled={!isWritable} onClick={() => void conversation.send('Go on')}>
          Go on
        </button>
      ) : (
        <button type="button" class="button quiet" disabled={!isWritable || isEmpty} onClick={onStep}>
          <Icon name="step" /> Step by step
        </button>
      )}
      {conversation.items.value.some(({ kind }) => kind === 'person') && (
        <button type="button" class="button quiet" disabled={!isWritable} onClick={() => void conversation.retry()}>
          <Icon name="retry" /> Try again
        </button>
      )}
    </div>
  )
}
