import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { TalkItem } from '../session/conversation.ts'
import type { ProjectSession } from '../session/project-session.ts'
import { scrollable } from '../ui/focusable.ts'
import { Icon } from '../ui/icon.tsx'
import { Approvals } from './approvals-view.tsx'
import { ModelPicker } from './model-picker.tsx'
import { showCall } from './page-state.ts'
import { aboutCall, Outcome } from './verdict.tsx'

/** The conversation with the agent, what it asks, and what it is told. */
export function TalkView({ desk }: { readonly desk: ProjectSession }) {
  const { items, isWorking } = desk.talk
  const place = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const pending = desk.session.approvals.value
  useEffect(() => {
    const list = place.current
    if (list !== null && isAtEnd.current) list.scrollTop = list.scrollHeight
  }, [items.value, pending.length, isWorking.value, desk.talk.afterwards.value])
  return (
    <div class="fill">
      <ModelPicker desk={desk} />
      <section
        class="talk fill-rest scroll"
        ref={place}
        aria-label="Conversation"
        {...scrollable}
        onScroll={({ currentTarget: list }) => {
          isAtEnd.current = list.scrollTop + list.clientHeight >= list.scrollHeight - 30
        }}
      >
        {items.value.length === 0 && <Welcome />}
        {items.value.map((item, at) => (
          <Item key={at} item={item} desk={desk} />
        ))}
        {!isWorking.value && items.value.length > 1 && desk.talk.afterwards.value !== undefined && (
          <p class="notice">To try now: {desk.talk.afterwards.value}</p>
        )}
        {isWorking.value && pending.length === 0 && (
          <p class="muted working" role="status">
            The agent works…
          </p>
        )}
      </section>
      <Approvals pending={pending} />
      <Composer desk={desk} />
    </div>
  )
}

function Welcome() {
  return (
    <div class="stack muted welcome">
      <p>
        The agent works in this page, on the project at the left. Every call it makes is judged by the policy, written
        into the audit, and can be taken back.
      </p>
      <p>The scripted model needs no key and no network: only its words are fixed, every result is real.</p>
    </div>
  )
}

function Item({ item, desk }: { readonly item: TalkItem; readonly desk: ProjectSession }) {
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
      return <CallChip item={item} desk={desk} />
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
  desk,
}: {
  readonly item: Extract<TalkItem, { kind: 'call' }>
  readonly desk: ProjectSession
}) {
  const entry = desk.session.timeline.value.findLast(({ step }) => step === item.id)
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

function Composer({ desk }: { readonly desk: ProjectSession }) {
  const { talk } = desk
  const text = useSignal('')
  const pick = talk.pick.value
  const isScripted = pick.kind === 'scripted'
  const prompt = talk.prompt.value
  const isWorking = talk.isWorking.value
  const words = isScripted ? (prompt ?? '') : text.value
  const send = (stepwise: boolean) => {
    if (isWorking || words.trim() === '') return
    text.value = ''
    void talk.send(words.trim(), stepwise)
  }
  const { steps, inputTokens, outputTokens, ms } = talk.usage.value
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
        aria-label="What the agent is asked"
        placeholder="Ask the agent to do something in this project"
        value={words}
        readOnly={isScripted}
        disabled={!desk.writable.value}
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
          <button type="button" class="button danger" onClick={() => void talk.stop()}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <>
            <button type="submit" class="button primary" disabled={words.trim() === '' || !desk.writable.value}>
              <Icon name="play" /> {isScripted ? 'Run' : 'Send'}
            </button>
            {talk.canContinue.value ? (
              <>
                <button type="button" class="button" onClick={() => void talk.next()}>
                  <Icon name="step" /> Next step
                </button>
                <button type="button" class="button" onClick={() => void talk.resume()}>
                  Go on
                </button>
              </>
            ) : (
              <button type="button" class="button" disabled={words.trim() === ''} onClick={() => send(true)}>
                <Icon name="step" /> Step by step
              </button>
            )}
            <button
              type="button"
              class="button icon"
              aria-label="Try the last words once more"
              title="Try the last words once more"
              disabled={!talk.items.value.some(({ kind }) => kind === 'person')}
              onClick={() => void talk.retry()}
            >
              <Icon name="retry" />
            </button>
            <button
              type="button"
              class="button quiet"
              disabled={talk.items.value.length === 0}
              onClick={() => talk.clear()}
            >
              New
            </button>
          </>
        )}
        <span class="grow" />
        <span class="muted number" title="Steps, tokens in and out, time of the model">
          {steps} steps · {short(inputTokens)} in · {short(outputTokens)} out · {(ms / 1000).toFixed(1)} s
        </span>
      </div>
    </form>
  )
}

function short(count: number): string {
  return count < 10_000 ? String(count) : `${Math.round(count / 1000)}k`
}
