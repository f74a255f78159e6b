import { useState } from 'preact/hooks'
import type { Conversation } from '../../ui/conversation.ts'
import type { TimelineEntry } from '../../ui/timeline.ts'
import type { ViewContext } from '../define-element.ts'
import { useDraft } from '../parts/drafts.ts'
import { scrollable } from '../parts/focusable.ts'
import markdownStyles from '../parts/markdown.css?inline'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { ChatProperties, Drafts } from '../properties.ts'
import chatStyles from './chat.css?inline'
import storyStyles from './story.css?inline'
import { Story, useEndInView } from './story.tsx'

export const styles = [markdownStyles, storyStyles, chatStyles].join('\n')

const noCalls = { snapshot: { entries: [] as readonly TimelineEntry[] }, subscribe: () => () => {} }

/** The conversation with the calls of the agent, and a field for the next message. */
export function View({ controller, timeline, drafts, dispatch }: ChatProperties & ViewContext) {
  const { items, isWorking, queue } = useSnapshot(controller)
  const { entries } = useSnapshot(timeline ?? noCalls)
  const { element, onScroll } = useEndInView()
  const [announcement, announce] = useState('')
  return (
    <section class="fill" aria-label="Conversation with the agent">
      <div
        ref={element}
        class="fill-rest scroll"
        role="log"
        aria-label="Conversation"
        aria-busy={isWorking}
        onScroll={onScroll}
        {...scrollable}
      >
        <div class="story">
          {items.length === 0 && <p class="empty">Ask the agent for something.</p>}
          <Story
            items={items}
            entryOf={({ entry }) => entries.find(({ key }) => key === entry)}
            onCall={(key) => dispatch('wardspace-open-call', { key })}
            announce={announce}
          />
          {isWorking && <p class="muted">The agent works …</p>}
          {queue.map((text, at) => (
            <p key={`${at} ${text}`} class="said person muted">
              Waits: {text}
            </p>
          ))}
        </div>
      </div>
      <div class="visually-hidden" role="status">
        {announcement}
      </div>
      <Composer controller={controller} drafts={drafts} isWorking={isWorking} />
    </section>
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
