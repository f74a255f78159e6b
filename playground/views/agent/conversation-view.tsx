import { useSignal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { scrollable } from '../../../src/elements/parts/focusable.ts'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import { Markdown } from '../../../src/elements/parts/markdown.tsx'
import type { ConversationItem } from '../../session/conversation.ts'
import { createMessageDraft, type MessageDraft } from '../../session/message-draft.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { announce } from '../../ui/announce.tsx'
import { lazyView } from '../../ui/lazy-view.tsx'
import { CallLine } from './call-lines.tsx'
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
          {stepsOf(items.value).map((step) => (
            <Step key={step.at} step={step} projectSession={projectSession} draft={draft} onCall={onCall} />
          ))}
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

/** Keeps the end of a growing list in view, unless the person has scrolled up. */
function useEndInView() {
  const element = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const top = useRef(0)
  useEffect(() => {
    const list = element.current
    if (list === null) return
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) list.scrollTop = list.scrollHeight
    })
    observer.observe(list)
    if (list.firstElementChild !== null) observer.observe(list.firstElementChild)
    return () => observer.disconnect()
  }, [])
  const onScroll = ({ currentTarget: list }: { readonly currentTarget: HTMLElement }) => {
    // The list may grow between the scroll to its end and this event, so only a way up leaves the end.
    if (list.scrollTop + list.clientHeight >= list.scrollHeight - 30) isAtEnd.current = true
    else if (list.scrollTop < top.current) isAtEnd.current = false
    top.current = list.scrollTop
  }
  return { element, onScroll }
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

type CallItem = Extract<ConversationItem, { kind: 'call' }>

/** An item of the conversation, or calls that follow each other. */
type StoryStep =
  | { readonly at: number; readonly calls: readonly CallItem[] }
  | { readonly at: number; readonly item: Exclude<ConversationItem, CallItem> }

/** Groups the calls that follow each other. */
function stepsOf(items: readonly ConversationItem[]): readonly StoryStep[] {
  const steps: ({ at: number; calls: CallItem[] } | Extract<StoryStep, { item: unknown }>)[] = []
  for (const [at, item] of items.entries()) {
    const last = steps.at(-1)
    if (item.kind !== 'call') steps.push({ at, item })
    else if (last !== undefined && 'calls' in last) last.calls.push(item)
    else steps.push({ at, calls: [item] })
  }
  return steps
}

/** Longer groups of calls are folded once they are done. */
const MAX_LINES = 4

function Step({
  step,
  projectSession,
  draft,
  onCall,
}: Pick<ConversationViewProps, 'projectSession' | 'onCall'> & {
  readonly step: StoryStep
  readonly draft: MessageDraft
}) {
  if ('item' in step) {
    const { pick, isWorking } = projectSession.conversation
    const canEdit = pick.value.kind !== 'scripted' && !isWorking.value && projectSession.writable.value
    const edit = () => {
      draft.edit(step.at)
      document.getElementById('composer')?.focus()
    }
    return <Said item={step.item} onEdit={canEdit ? edit : undefined} />
  }
  const timeline = projectSession.session.timeline.value
  const lines = step.calls.map((item) => (
    <CallLine key={item.id} item={item} entry={timeline.findLast(({ step: id }) => id === item.id)} onOpen={onCall} />
  ))
  if (lines.length <= MAX_LINES) return <div class="call-lines">{lines}</div>
  return (
    <details class="call-lines" open={step.calls.some(({ ok }) => ok === undefined)}>
      <summary>{lines.length} calls</summary>
      {lines}
    </details>
  )
}

async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
  announce('The answer is copied')
}

function Said({
  item,
  onEdit,
}: {
  readonly item: Exclude<ConversationItem, CallItem>
  /** Begins to edit the message. Undefined while that is not possible. */
  readonly onEdit: (() => void) | undefined
}) {
  switch (item.kind) {
    case 'person':
      return (
        <div class="message-place">
          <div class="said person">
            <span class="visually-hidden">You: </span>
            {item.text}
            {item.attachments?.map((name) => (
              <span key={name} class="tag">
                <Icon name="file" /> {name}
              </span>
            ))}
          </div>
          {onEdit !== undefined && <IconButton icon="pencil" label="Edit and send again" onClick={onEdit} />}
        </div>
      )
    case 'text':
      return (
        <div class="message-place">
          <div class="said agent grow">
            <span class="visually-hidden">Agent: </span>
            <Markdown text={item.text} />
          </div>
          <IconButton icon="files" label="Copy the answer" onClick={() => void copyText(item.text)} />
        </div>
      )
    case 'reasoning':
      return (
        <details class="muted">
          <summary>Reasoning</summary>
          <div class="said">{item.text}</div>
        </details>
      )
    case 'error':
      return (
        <p class="notice bad" role="alert">
          {item.text}
        </p>
      )
    case 'end':
      return <p class="muted ended">{item.text}</p>
    case 'compacted':
      return (
        <p class="muted ended">
          The context was nearly full: from here on, the agent has addresses instead of long earlier results, and can
          read them again.
        </p>
      )
  }
}
