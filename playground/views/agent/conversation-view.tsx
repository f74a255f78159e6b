import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { useSnapshot } from '../../../src/elements/parts/use-snapshot.ts'
import type { Suggestion } from '../../agent/types.ts'
import { chatOf, draftOf } from '../../session/chat.ts'
import { createFileFinder } from '../../session/file-finder.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { turnsOf } from '../../session/turn-words.ts'
import { lazyView } from '../../ui/lazy-view.tsx'
import { WardspaceElement } from '../../ui/wardspace-element.tsx'
import { ConversationBar } from './conversation-bar.tsx'
import { ModelPicker } from './model-picker.tsx'
import { TurnActions } from './turn-actions.tsx'
import { UsageLine } from './usage-line.tsx'

const EndCard = lazyView(async () => (await import('./end-card.tsx')).EndCard)

export interface ConversationViewProps {
  readonly projectSession: ProjectSession
  readonly onCall: (key: string) => void
  readonly onScenario: (id: string) => void
  readonly onSettings: () => void
  readonly onReview: () => void
  readonly onReport: (runId: string) => void
  /** Shows what a scenario suggests. */
  readonly onShow: (suggestion: Suggestion) => void
}

/** What the agent says and does, and the field for messages, with what is known of the model and the run. */
export function ConversationView(props: ConversationViewProps) {
  const { projectSession, onCall, onReview, onReport } = props
  const { conversation, session, texts, project, files } = projectSession
  const chat = useMemo(() => chatOf(conversation, session), [conversation, session])
  const draft = useMemo(() => draftOf(chat, conversation, texts), [chat])
  const suggest = useMemo(() => {
    const finder = createFileFinder(project.backend, () => files.all.peek().map(({ path }) => path))
    return async (typed: string) => {
      await finder.ask(typed)
      return finder.matches.peek().map(({ path }) => path)
    }
  }, [project])
  const { items, isWorking, afterwards, retryAt } = conversation
  const isWritable = projectSession.writable.value
  const isScripted = conversation.pick.value.kind === 'scripted'
  const prompt = isScripted ? conversation.prompt.value : undefined
  const written = useSnapshot(draft).text
  // An answer without a call has done nothing.
  const turns = turnsOf(items.value)
  const last = turns.at(-1)
  const sendStep = () => {
    const message = prompt === undefined ? draft.take() : { text: prompt.trim() }
    if (message !== undefined) void conversation.send(message.text, true, message.attachments)
  }
  return (
    <WardspaceElement
      name="wardspace-chat"
      properties={{
        ...{ controller: chat, timeline: session.callTimeline, approvals: session.approvalQueue },
        ...{ draft, prompt, suggest, disabled: !isWritable || (isScripted && prompt === undefined) },
      }}
      events={{ 'wardspace-open-call': ({ detail }) => onCall(detail.key) }}
    >
      <ConversationBar conversation={conversation} isWritable={isWritable} />
      {items.value.length === 0 && <Welcome isScripted={isScripted} />}
      {turns.map(
        (turn) =>
          turn !== last &&
          turn.steps.length > 0 && (
            <EndCard key={turn.end} {...{ projectSession, turn, onReview, onReport }} slot={`before-${turn.end}`} />
          ),
      )}
      <div slot="end" class="turn-end">
        {retryAt.value !== undefined && <NextTry conversation={conversation} at={retryAt.value} />}
        {!isWorking.value && last !== undefined && last.steps.length > 0 && (
          <EndCard {...{ projectSession, onReview, onReport }} turn={last} />
        )}
        {!isWorking.value && items.value.length > 1 && afterwards.value !== undefined && (
          <TryNext suggestion={afterwards.value} onShow={props.onShow} />
        )}
      </div>
      <ModelPicker conversation={conversation} onScenario={props.onScenario} onSettings={props.onSettings} />
      {!isWorking.value && (
        <TurnActions
          conversation={conversation}
          isWritable={isWritable}
          isEmpty={(prompt ?? written).trim() === ''}
          onStep={sendStep}
        />
      )}
      <UsageLine conversation={conversation} />
    </WardspaceElement>
  )
}

function TryNext({ suggestion, onShow }: { readonly suggestion: Suggestion } & Pick<ConversationViewProps, 'onShow'>) {
  return (
    <button type="button" class="button try-next" onClick={() => onShow(suggestion)}>
      <span class="grow">{suggestion.label}</span>
      <Icon name="arrow" />
    </button>
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
    <div slot="empty" class="stack muted welcome">
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
