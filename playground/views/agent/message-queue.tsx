import type { MessageDraft } from '../../session/message-draft.ts'
import type { ProjectSession } from '../../session/project-session.ts'

/** The messages that are sent when the agent has finished. After a stop or an error they wait for a press. */
export function MessageQueue({
  conversation,
  draft,
}: {
  readonly conversation: ProjectSession['conversation']
  readonly draft: MessageDraft
}) {
  const { queue } = conversation
  if (queue.value.length === 0) return null
  const without = (at: number) => {
    queue.value = queue.value.filter((_, index) => index !== at)
  }
  return (
    <ul class="queue" aria-label="Messages that wait">
      {queue.value.map((message, at) => (
        <li key={`${at} ${message.text}`} class="said person muted">
          <span class="small">Waits until the agent has finished</span>
          <span>{message.text}</span>
          <span class="row wrap">
            {at === 0 && !conversation.isWorking.value && (
              <button type="button" class="button" onClick={() => void conversation.sendNext()}>
                Send now
              </button>
            )}
            <button
              type="button"
              class="button quiet"
              disabled={draft.text.value.trim() !== ''}
              onClick={() => {
                without(at)
                draft.text.value = message.text
                draft.attachments.value = message.attachments ?? []
              }}
            >
              Edit
            </button>
            <button type="button" class="button quiet" onClick={() => without(at)}>
              Remove
            </button>
          </span>
        </li>
      ))}
    </ul>
  )
}
