import type { MessageDraft } from '../../ui/message-draft.ts'
import { CodeSpans } from '../parts/code-spans.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { ChatProperties } from '../properties.ts'

/** The messages that are sent when the agent has finished. Those that wait while it is idle wait for a press. */
export function MessageQueue({
  controller,
  draft,
}: {
  readonly controller: ChatProperties['controller']
  readonly draft: MessageDraft
}) {
  const { queue, isWorking } = useSnapshot(controller)
  const { text: written } = useSnapshot(draft)
  if (queue.length === 0) return null
  return (
    <ul class="queue" aria-label="Messages that wait">
      {queue.map(({ text }, at) => (
        <li key={`${at} ${text}`} class="said person muted">
          <span class="small">{isWorking ? 'Waits until the agent has finished' : 'Waits to be sent'}</span>
          <span>
            <CodeSpans text={text} />
          </span>
          <span class="row wrap">
            {at === 0 && !isWorking && controller.sendNext !== undefined && (
              <button type="button" class="button" onClick={() => void controller.sendNext?.()}>
                Send now
              </button>
            )}
            <button
              type="button"
              class="button quiet"
              disabled={written.trim() !== ''}
              onClick={() => draft.takeBack(at)}
            >
              Edit
            </button>
            <button type="button" class="button quiet" onClick={() => controller.unqueue(at)}>
              Remove
            </button>
          </span>
        </li>
      ))}
    </ul>
  )
}
