import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { ConversationItem } from '../session/conversation.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { scrollable } from '../ui/focusable.ts'
import { Icon } from '../ui/icon.tsx'
import { lazyView } from '../ui/lazy-view.tsx'
import { ModelPicker } from './model-picker.tsx'
import { showCall } from './page-state.ts'
import { aboutCall, Outcome } from './verdict.tsx'

const Approvals = lazyView(async () => (await import('./approvals-view.tsx')).Approvals)

/** The conversation with the agent, its pending approvals, and the field for messages. */
export function ConversationView({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { items, isWorking } = projectSession.conversation
  const element = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const pending = projectSession.session.approvals.value
  useEffect(() => {
    const list = element.current
    if (list !== null && isAtEnd.current) list.scrollTop = list.scrollHeight
  }, [items.value, pending.length, isWorking.value, projectSession.conversation.afterwards.value])
  return (
    <div class="fill">
      <ModelPicker projectSession={projectSession} />
      <section
        class="conversation fill-rest scroll"
        ref={element}
        aria-label="Conversation"
        {...scrollable}
        onScroll={({ currentTarget: list }) => {
          isAtEnd.current = list.scrollTop + list.clientHeight >= list.scrollHeight - 30
        }}
      >
        {items.value.length === 0 && <Welcome />}
        {items.value.map((item, at) => (
          <Item key={at} item={item} projectSession={projectSession} />
        ))}
        {!isWorking.value && items.value.length > 1 && projectSession.conversation.afterwards.value !== undefined && (
          <p class="notice">To try now: {projectSession.conversation.afterwards.value}</p>
        )}
        {projectSession.conversation.retryAt.value !== undefined && (
          <NextTry conversation={projectSession.conversation} at={projectSession.conversation.retryAt.value} />
        )}
        {isWorking.value && pending.length === 0 && (
          <p class="muted working" role="status">
            The agent is working…
          </p>
        )}
      </section>
      {pending.length > 0 && <Approvals pending={pending} texts={projectSession.texts} />}
      <Composer projectSession={projectSession} />
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

function Welcome() {
  return (
    <div class="stack muted welcome">
      <p>
        The agent works in this page, on the project at the left. The policy checks every call it makes, the audit
        records it, and you can undo it.
      </p>
      <p>The scripted model needs no key and no network. Its text is fixed, but every result is real.</p>
    </div>
  )
}

function Item({ item, projectSession }: { readonly item: ConversationItem; readonly projectSession: ProjectSession }) {
  switch (item.kind) {
    case 'person':
      return (
        <div class="said person">
          <span class="visually-hidden">You: </span>
          {item.text}
        </div>
      )
    case 'text':
      return (
        <div class="said agent">
          <span class="visually-hidden">Agent: </span>
          {item.text}
        </div>
      )
    case 'reasoning':
      return (
        <details class="muted">
          <summary>Reasoning</summary>
          <div class="said">{item.text}</div>
        </details>
      )
    case 'call':
      return <CallChip item={item} projectSession={projectSession} />
    case 'error':
      return (
        <p class="notice bad" role="alert">
          {item.text}
        </p>
      )
    case 'end':
      return <p class="muted ended">{item.text}</p>
  }
}

function CallChip({
  item,
  projectSession,
}: {
  readonly item: Extract<ConversationItem, { kind: 'call' }>
  readonly projectSession: ProjectSession
}) {
  const entry = projectSession.session.timeline.value.findLast(({ step }) => step === item.id)
  const tone = item.ok === undefined ? '' : item.ok ? 'good' : 'bad'
  return (
    <button type="button" class="chip" disabled={entry === undefined} onClick={() => entry && showCall(entry.key)}>
      <strong class="mono">{item.tool}</strong>
      <span class="mono cut grow">{aboutCall(item.tool, item.input)}</span>
      {entry === undefined ? (
        <span class={`tag ${tone}`}>{item.ok === undefined ? '…' : item.ok ? 'ok' : (item.code ?? 'refused')}</span>
      ) : (
        <Outcome entry={entry} />
      )}
    </button>
  )
}

function Composer({ projectSession }: { readonly projectSession: ProjectSession }) {
  const { conversation } = projectSession
  const text = projectSession.texts.of('message')
  const pick = conversation.pick.value
  const isScripted = pick.kind === 'scripted'
  const prompt = conversation.prompt.value
  const isWorking = conversation.isWorking.value
  const message = isScripted ? (prompt ?? '') : text.value
  const send = (stepwise: boolean) => {
    if (isWorking || message.trim() === '') return
    text.value = ''
    void conversation.send(message.trim(), stepwise)
  }
  const { steps, inputTokens, outputTokens, ms } = conversation.usage.value
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send(false)
      }}
    >
      <textarea
        class="field"
        id="composer"
        rows={3}
        aria-label="Message to the agent"
        placeholder="Ask the agent to do something in this project"
        value={message}
        readOnly={isScripted}
        disabled={!projectSession.writable.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault()
            send(false)
          }
        }}
      />
      <div class="row wrap">
        {isWorking ? (
          <button type="button" class="button danger" onClick={() => void conversation.stop()}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <SendButtons
            conversation={conversation}
            runLabel={isScripted ? 'Run' : 'Send'}
            isEmpty={message.trim() === ''}
            isWritable={projectSession.writable.value}
            onStep={() => send(true)}
          />
        )}
        <span class="grow" />
        <span class="muted number" title="Steps, tokens in and out, time of the model">
          {steps} steps · {short(inputTokens)} in · {short(outputTokens)} out · {(ms / 1000).toFixed(1)} s
        </span>
      </div>
    </form>
  )
}

/** The actions that are available while the agent is idle. */
function SendButtons({
  conversation,
  runLabel,
  isEmpty,
  isWritable,
  onStep,
}: {
  readonly conversation: ProjectSession['conversation']
  readonly runLabel: string
  readonly isEmpty: boolean
  readonly isWritable: boolean
  readonly onStep: () => void
}) {
  return (
    <>
      <button type="submit" class="button primary" disabled={isEmpty || !isWritable}>
        <Icon name="play" /> {runLabel}
      </button>
      {conversation.canContinue.value ? (
        <>
          <button type="button" class="button" onClick={() => void conversation.next()}>
            <Icon name="step" /> Next step
          </button>
          <button type="button" class="button" onClick={() => void conversation.resume()}>
            Continue
          </button>
        </>
      ) : (
        <button type="button" class="button" disabled={isEmpty} onClick={onStep}>
          <Icon name="step" /> Step by step
        </button>
      )}
      <button
        type="button"
        class="button icon"
        aria-label="Retry the last message"
        title="Retry the last message"
        disabled={!conversation.items.value.some(({ kind }) => kind === 'person')}
        onClick={() => void conversation.retry()}
      >
        <Icon name="retry" />
      </button>
      <button
        type="button"
        class="button quiet"
        disabled={conversation.items.value.length === 0}
        onClick={() => conversation.clear()}
      >
        New
      </button>
    </>
  )
}

function short(count: number): string {
  return count < 10_000 ? String(count) : `${Math.round(count / 1000)}k`
}
