import { useEffect, useRef } from 'preact/hooks'
import type { ConversationCall, ConversationItem } from '../../ui/conversation.ts'
import type { TimelineEntry } from '../../ui/timeline.ts'
import { CodeSpans } from '../parts/code-spans.tsx'
import { copyText } from '../parts/copy-text.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Markdown } from '../parts/markdown.tsx'
import { CallLine } from './call-lines.tsx'

export interface StoryProps {
  readonly items: readonly ConversationItem[]
  /** Returns the call of an item in the timeline, or undefined when it is not there yet. */
  readonly entryOf: (item: ConversationCall) => TimelineEntry | undefined
  readonly onCall: (key: string) => void
  /** Begins to edit a message by its id. Undefined while that is not possible. */
  readonly onEdit: ((id: string) => void) | undefined
  readonly announce: (text: string) => void
}

/** What the person and the agent say, and the calls of the agent as quiet lines. */
export function Story({ items, entryOf, onCall, onEdit, announce }: StoryProps) {
  return (
    <>
      {stepsOf(items).map((step) =>
        'item' in step ? (
          <Said
            key={step.at}
            item={step.item}
            onEdit={onEdit && (() => onEdit(step.item.id))}
            onCopy={(text) => void copyText(text, 'The answer is copied').then(announce)}
          />
        ) : (
          <Calls key={step.at} calls={step.calls} entryOf={entryOf} onCall={onCall} />
        ),
      )}
    </>
  )
}

/** Events by which a person scrolls. */
const SCROLLING = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const
/** Milliseconds after such an event in which a list that also changes is scrolled by the person. */
const SCROLLED_MS = 500

/** Keeps the end of a growing list in view, unless the person has scrolled up. */
export function useEndInView() {
  const element = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  const last = useRef({ top: 0, height: 0, touchedAt: Number.NEGATIVE_INFINITY })
  useEffect(() => {
    const list = element.current
    if (list === null) return
    const observer = new ResizeObserver(() => {
      if (isAtEnd.current) list.scrollTop = list.scrollHeight
      last.current.height = list.scrollHeight
    })
    observer.observe(list)
    if (list.firstElementChild !== null) observer.observe(list.firstElementChild)
    const touched = ({ timeStamp }: Event) => {
      last.current.touchedAt = timeStamp
    }
    for (const type of SCROLLING) list.addEventListener(type, touched, { passive: true })
    return () => observer.disconnect()
  }, [])
  const onScroll = ({ currentTarget: list, timeStamp }: Event & { readonly currentTarget: HTMLElement }) => {
    const { top, height, touchedAt } = last.current
    const { scrollTop, scrollHeight } = list
    // A list that becomes shorter moves up by itself, and may be longer again by now.
    const isByPerson = scrollHeight === height || timeStamp - touchedAt < SCROLLED_MS
    if (scrollTop + list.clientHeight >= scrollHeight - 30) isAtEnd.current = true
    else if (scrollTop < top && isByPerson) isAtEnd.current = false
    last.current = { top: scrollTop, height: scrollHeight, touchedAt }
  }
  return { element, onScroll }
}

/** An item of the conversation, or calls that follow each other. */
type StoryStep =
  | { readonly at: number; readonly calls: readonly ConversationCall[] }
  | { readonly at: number; readonly item: Exclude<ConversationItem, ConversationCall> }

/** Groups the calls that follow each other. */
function stepsOf(items: readonly ConversationItem[]): readonly StoryStep[] {
  const steps: ({ at: number; calls: ConversationCall[] } | Extract<StoryStep, { item: unknown }>)[] = []
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

function Calls({
  calls,
  entryOf,
  onCall,
}: Pick<StoryProps, 'entryOf' | 'onCall'> & { readonly calls: readonly ConversationCall[] }) {
  const entries = calls.map((item) => ({ item, entry: entryOf(item) }))
  const lines = entries.map(({ item, entry }) => <CallLine key={item.id} item={item} entry={entry} onOpen={onCall} />)
  if (lines.length <= MAX_LINES) return <div class="call-lines">{lines}</div>
  const isRunning = entries.some(({ item, entry }) => (item.ok ?? entry?.result?.ok) === undefined)
  return (
    <details class="call-lines" open={isRunning}>
      <summary>{lines.length} calls</summary>
      {lines}
    </details>
  )
}

function Said({
  item,
  onEdit,
  onCopy,
}: {
  readonly item: Exclude<ConversationItem, ConversationCall>
  /** Begins to edit the message. Undefined while that is not possible. */
  readonly onEdit: (() => void) | undefined
  readonly onCopy: (text: string) => void
}) {
  switch (item.kind) {
    case 'person':
      return (
        <>
          <slot name={`before-${item.id}`} />
          <div class="message-place">
            <div class="said person">
              <span class="visually-hidden">You: </span>
              <CodeSpans text={item.text} />
              {item.attachments?.map((name) => (
                <span key={name} class="tag">
                  <Icon name="file" /> {name}
                </span>
              ))}
            </div>
            {onEdit !== undefined && <IconButton icon="pencil" label="Edit and send again" onClick={onEdit} />}
          </div>
        </>
      )
    case 'agent':
      return (
        <div class="message-place">
          <div class="said agent grow">
            <span class="visually-hidden">Agent: </span>
            <Markdown text={item.text} />
          </div>
          <IconButton icon="files" label="Copy the answer" onClick={() => onCopy(item.text)} />
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
    case 'note':
      return <p class="muted ended">{item.text}</p>
  }
}
