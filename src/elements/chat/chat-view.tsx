import { useMemo, useState } from 'preact/hooks'
import type { Controller } from '../../ui/controller.ts'
import { createMessageDraft } from '../../ui/message-draft.ts'
import type { TimelineEntry } from '../../ui/timeline.ts'
import type { ViewContext } from '../define-element.ts'
import { scrollable } from '../parts/focusable.ts'
import markdownStyles from '../parts/markdown.css?inline'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { ChatProperties } from '../properties.ts'
import chatStyles from './chat.css?inline'
import { Composer } from './composer.tsx'
import { MessageQueue } from './message-queue.tsx'
import storyStyles from './story.css?inline'
import { Story, useEndInView } from './story.tsx'

export const styles = [markdownStyles, storyStyles, chatStyles].join('\n')

function absent<Snapshot>(snapshot: Snapshot): Controller<Snapshot> {
  return { snapshot, subscribe: () => () => {} }
}

const noCalls = absent({ entries: [] })
const noApprovals = absent({ pending: [] })

/** The conversation with the calls of the agent, the messages that wait, and the one that the person writes. */
export function View(properties: ChatProperties & ViewContext) {
  const { controller, timeline = noCalls, approvals = noApprovals, drafts, prompt, disabled = false } = properties
  const { dispatch } = properties
  const { items, isWorking } = useSnapshot(controller)
  const draft = useMemo(
    () => properties.draft ?? createMessageDraft(controller, { drafts }),
    [properties.draft, controller, drafts],
  )
  const entries = useSnapshot<{ readonly entries: readonly TimelineEntry[] }>(timeline).entries
  const calls = useMemo(() => new Map(entries.map((entry) => [entry.key, entry])), [entries])
  const isWaiting = useSnapshot<{ readonly pending: readonly unknown[] }>(approvals).pending.length > 0
  const { element, onScroll } = useEndInView()
  const [announcement, announce] = useState('')
  const canEdit = !isWorking && !disabled && prompt === undefined
  return (
    <section class="fill" aria-label="Conversation with the agent">
      <slot name="bar" />
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
          {items.length === 0 && (
            <slot name="empty">
              <p class="empty">Ask the agent for something.</p>
            </slot>
          )}
          <Story
            items={items}
            entryOf={({ entry }) => calls.get(entry)}
            onCall={(key) => dispatch('wardspace-open-call', { key })}
            onEdit={canEdit ? draft.edit : undefined}
            announce={announce}
          />
          <slot name="end" />
          {isWorking && !isWaiting && (
            <p class="muted working" role="status">
              <span class="pulse" aria-hidden="true" /> The agent is working…
            </p>
          )}
          {isWaiting && (
            <p class="notice warn" role="status">
              The agent waits for your approval.
            </p>
          )}
          <MessageQueue controller={controller} draft={draft} />
        </div>
      </div>
      <div class="visually-hidden" role="status">
        {announcement}
      </div>
      <Composer
        controller={controller}
        draft={draft}
        prompt={prompt}
        disabled={disabled}
        suggest={properties.suggest}
      />
    </section>
  )
}
