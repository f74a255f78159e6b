import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { ConversationItem } from 'wardspace/ui'
import { Story, useEndInView } from '../../../src/elements/chat/story.tsx'
import { scrollable } from '../../../src/elements/parts/focusable.ts'
import type { ConversationItem as Item } from '../../session/conversation.ts'
import { createMessageDraft } from '../../session/message-draft.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { announce } from '../../ui/announce.tsx'
import { lazyView } from '../../ui/lazy-view.tsx'
import { Composer } from './composer.tsx'
import { ConversationBar } from './conversation-bar.tsx'
import { MessageQueue } from './message-queue.tsx'
import { ModelPicker } from './model-picker.tsx'

const EndCard = lazyView(async () => (await import('./end-card.tsx')).EndCard)

export interface ConversationViewProps {
  readonly projectSession: ProjectSession
  readonly onCall: (key: string) => void
  readonly onScenario: (id: string) => void
  readonly onSettings: () => void
  readonly onReview: () => void
  readonly onReport: (runId: string) => void
}

/** What the agent says and does, as a story, and the field for messages. */
export function ConversationView(props: ConversationViewProps) {
  const { projectSession, onCall, onReview, onReport } = props
  const { conversation, session, texts } = projectSession
  const draft = useMemo(() => createMessageDraft(conversation, texts), [conversation, texts])
  const { items, isWorking, afterwards, retryAt } = conversation
  const { element, onScroll } = useEndInView()
  const pending = session.approvals.value.length
  const timeline = session.timeline.value
  const canEdit = conversation.pick.value.kind !== 'scripted' && !isWorking.value && projectSession.writable.value
  const edit = (at: number) => {
    draft.edit(at)
    document.getElementById('composer')?.focus()
  }
  const isOver = !isWorking.value && items.value.some(({ kind }) => kind === 'call')
  return (
    <div class="fill">
      <ConversationBar conversation={conversation} isWritable={projectSession.writable.value} />
      <section
        class="conversation fill-rest scroll"
        ref={element}
        aria-label="Conversation"
        {...scrollable}
        onScroll={onScroll}
      >
        <div class="story">
          {items.value.length === 0 && <Welcome isScripted={conversation.pick.value.kind === 'scripted'} />}
          <Story
            items={storyOf(items.value)}
            entryOf={({ entry }) => timeline.findLast(({ step }) => step === entry)}
            onCall={onCall}
            onEdit={canEdit ? edit : undefined}
            announce={announce}
          />
          {retryAt.value !== undefined && <NextTry conversation={conversation} at={retryAt.value} />}
          {isOver && <EndCard projectSession={projectSession} onReview={onReview} onReport={onReport} />}
          {!isWorking.value && items.value.length > 1 && afterwards.value !== undefined && (
            <p class="muted small">To try now: {afterwards.value}</p>
          )}
          {isWorking.value && pending === 0 && (
            <p class="muted working" role="status">
              <span class="pulse" aria-hidden="true" /> The agent is working…
            </p>
          )}
          {pending > 0 && (
            <p class="notice warn" role="status">
              The agent waits for your approval.
            </p>
          )}
          <MessageQueue conversation={conversation} draft={draft} />
        </div>
      </section>
      <Composer projectSession={projectSession} draft={draft}>
        <ModelPicker conversation={conversation} onScenario={props.onScenario} onSettings={props.onSettings} />
      </Composer>
    </div>
  )
}

/** Counts down to the next try after a failure. */
function NextTry({ conversation, at }: { readonly conversation: ProjectSession['conversation']; readonly at: number }) {
  const seconds = useSignal(0)
  useEffect(() => {
    const count = () => {
      seconds.value = Math.max(0, Math.ceil((at - Date.now()) / 1000))
    }
    count()
    const timer = setInterval(count, 500)
    return () => clearInterval(timer)
  }, [at])
  return (
    <div class="row wrap" role="timer" aria-label="Next try">
      <span class="muted number">Trying again in {seconds.value} s</span>
      <button type="button" class="button" onClick={() => void conversation.resume()}>
        Try now
      </button>
      <button type="button" class="button quiet" onClick={() => conversation.cancelRetry()}>
        Do not try again
      </button>
    </div>
  )
}

function Welcome({ isScripted }: { readonly isScripted: boolean }) {
  return (
    <div class="stack muted welcome">
      <p>
        The agent works in this page, on the files of this project. The policy checks every call it makes, the audit
        records it, and you can take it back.
      </p>
      {isScripted ? (
        <p>The scripted model needs no key and no network. Its text is fixed, but every result is real.</p>
      ) : (
        <p>
          Name files with @, and attach others with +. While the agent works, further messages wait in a queue, and
          “stop” stops it.
        </p>
      )}
    </div>
  )
}

/** Returns the items as a story shows them. */
function storyOf(items: readonly Item[]): readonly ConversationItem[] {
  return items.map((item, at): ConversationItem => {
    const id = String(at)
    switch (item.kind) {
      case 'person':
        return { ...item, id }
      case 'text':
        return { kind: 'agent', id, text: item.text }
      case 'call':
        return { ...item, entry: item.id }
      case 'end':
        return { kind: 'note', id, text: item.text }
      case 'compacted':
        return { kind: 'note', id, text: COMPACTED }
      default:
        return { kind: item.kind, id, text: item.text }
    }
  })
}

const COMPACTED =
  'The context was nearly full: from here on, the agent has addresses instead of long earlier results, and can read them again.'
