import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Conversation, ConversationItem } from '../../ui/conversation.ts'
import type { TimelineEntry } from '../../ui/timeline.ts'
import { aboutCall } from '../../ui/words/call-words.ts'
import { refusalsOf } from '../../ui/words/refusals.ts'
import type { ViewContext } from '../define-element.ts'
import { useDraft } from '../parts/drafts.ts'
import { scrollable } from '../parts/focusable.ts'
import markdownStyles from '../parts/markdown.css?inline'
import { Markdown } from '../parts/markdown.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import { Outcome } from '../parts/verdict.tsx'
import type { ChatProperties, Drafts } from '../properties.ts'
import chatStyles from './chat.css?inline'

export const styles = `${markdownStyles}\n${chatStyles}`

const noCalls = { snapshot: { entries: [] as readonly TimelineEntry[] }, subscribe: () => () => {} }

/** The conversation with the calls of the agent, and a field for the next message. */
export function View({ controller, timeline, drafts, dispatch }: ChatProperties & ViewContext) {
  const { items, isWorking, queue } = useSnapshot(controller)
  const { entries } = useSnapshot(timeline ?? noCalls)
  const list = useEndInView()
  return (
    <section class="fill" aria-label="Conversation with the agent">
      <div class="story" role="log" aria-label="Conversation" aria-busy={isWorking} {...list} {...scrollable}>
        {items.length === 0 && <p class="empty">Ask the agent for something.</p>}
        {items.map((item) => (
          <Item
            key={item.id}
            item={item}
            entry={item.kind === 'call' ? entries.find(({ key }) => key === item.entry) : undefined}
            onCall={(key) => dispatch('wardspace-open-call', { key })}
          />
        ))}
        {isWorking && <p class="muted">The agent works …</p>}
        {queue.map((text, at) => (
          <p key={`${at} ${text}`} class="said person muted">
            Waits: {text}
          </p>
        ))}
      </div>
      <Composer controller={controller} drafts={drafts} isWorking={isWorking} />
    </section>
  )
}

/** Keeps the end of the list in view, unless the person has scrolled up. */
function useEndInView() {
  const ref = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useLayoutEffect(() => {
    const list = ref.current
    if (list !== null && isAtEnd.current) list.scrollTop = list.scrollHeight
  })
  const onScroll = ({ currentTarget: list }: { readonly currentTarget: HTMLElement }) => {
    isAtEnd.current = list.scrollTop + list.clientHeight >= list.scrollHeight - 30
  }
  return { ref, onScroll }
}

function Item({
  item,
  entry,
  onCall,
}: {
  readonly item: ConversationItem
  readonly entry: TimelineEntry | undefined
  readonly onCall: (key: string) => void
}) {
  switch (item.kind) {
    case 'person':
      return (
        <div class="said person">
          <span class="visually-hidden">You: </span>
          {item.text}
        </div>
      )
    case 'agent':
      return (
        <div class="said agent">
          <span class="visually-hidden">Agent: </span>
          <Markdown text={item.text} />
        </div>
      )
    case 'error':
      return (
        <p class="notice bad" role="alert">
          {item.text}
        </p>
      )
    case 'call':
      return entry === undefined ? null : <Call entry={entry} onOpen={() => onCall(entry.key)} />
  }
}

function Call({ entry, onOpen }: { readonly entry: TimelineEntry; readonly onOpen: () => void }) {
  const refused = refusalsOf(entry)
  return (
    <div class={refused.length > 0 ? 'notice bad' : ''}>
      <button type="button" class="button quiet call" onClick={onOpen}>
        <span class="mono">{entry.tool}</span>
        <span class="mono muted cut grow">{aboutCall(entry.tool, entry.input)}</span>
        <Outcome entry={entry} />
      </button>
      {refused.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  )
}

/** Enter sends, Shift+Enter begins a new line. */
function Composer({
  controller,
  drafts,
  isWorking,
}: {
  readonly controller: Conversation
  readonly drafts: Drafts | undefined
  readonly isWorking: boolean
}) {
  const [text, setText] = useDraft(drafts, 'message')
  const send = () => {
    if (text.trim() === '') return
    setText('')
    void controller.send(text)
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      <textarea
        class="field"
        rows={2}
        aria-label="Message to the agent"
        placeholder="Message to the agent"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          send()
        }}
      />
      <div class="row">
        <span class="grow" />
        {isWorking && (
          <button type="button" class="button danger" onClick={controller.stop}>
            Stop
          </button>
        )}
        <button type="submit" class="button primary" disabled={text.trim() === ''}>
          {isWorking ? 'Send afterwards' : 'Send'}
        </button>
      </div>
    </form>
  )
}
