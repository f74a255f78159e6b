import {
  checkOptions,
  isFunction,
  isListOf,
  isObjectValue,
  isObjectWith,
  refuseSurplus,
} from '../util/check-options.ts'
import type { Attachment } from './attachments.ts'
import { type Controller, ControllerState } from './controller.ts'

/** A message of the person to the agent. */
export interface Message {
  readonly text: string
  readonly attachments?: readonly Attachment[]
}

/** A part of a conversation. Plain data, so that it can be saved. */
export type ConversationItem =
  /** A message of the person, with the names of attached files. */
  | { readonly kind: 'person'; readonly id: string; readonly text: string; readonly attachments?: readonly string[] }
  /** What the agent says or thinks, an error that ended an answer, or a note of the page. */
  | { readonly kind: 'agent' | 'reasoning' | 'error' | 'note'; readonly id: string; readonly text: string }
  | ConversationCall

/** A call of the agent in a conversation. */
export interface ConversationCall {
  readonly kind: 'call'
  readonly id: string
  /** The key of the call in the timeline. */
  readonly entry: string
  /** The tool and its input, shown until the call is in the timeline. */
  readonly tool?: string
  readonly input?: unknown
  /** Whether the call succeeded; `undefined` until it has ended. */
  readonly ok?: boolean | undefined
  /** The code of a failure. */
  readonly code?: string | undefined
}

/** The state of a {@link Conversation}. */
export interface ConversationSnapshot {
  /** Oldest first. */
  readonly items: readonly ConversationItem[]
  /** Whether the agent works on an answer. */
  readonly isWorking: boolean
  /** The messages that are sent when the answer has ended. */
  readonly queue: readonly Message[]
}

/** What an answer of the agent consists of. */
export interface Answer {
  /** The conversation so far. The last item is the message to answer. */
  readonly items: readonly ConversationItem[]
  /** The files that go with this message. */
  readonly attachments: readonly Attachment[]
  readonly signal: AbortSignal
  /** Adds text of the agent, as it comes. */
  readonly say: (piece: string) => void
  /** Adds a call by its key in the timeline. */
  readonly showCall: (entry: string) => void
}

/** Answers a message: it asks a model, and calls tools. */
export type Respond = (answer: Answer) => Promise<void>

/** A conversation of a person with an agent. */
export interface Conversation extends Controller<ConversationSnapshot> {
  /** Sends a message. While the agent works, it waits in the queue. */
  send(text: string, attachments?: readonly Attachment[]): Promise<void>
  /** Sends another message in the place of an earlier one, given by the id of its item. Drops what came after it. Does nothing while the agent works. */
  resend(item: string, message: Message): Promise<void>
  /** Removes a message from the queue, by its position. */
  unqueue(at: number): void
  /** Sends the first message of a queue that waits while the agent is idle. Missing where none does. */
  sendNext?(): Promise<void>
  /** Stops the answer. What was said and done stays; the queue is dropped. */
  stop(): void
}

/** Options of {@link createConversation}. */
export interface ConversationOptions {
  readonly respond: Respond
  /** The items of an earlier conversation. */
  readonly items?: readonly ConversationItem[]
  /** Called with the keys of calls: the timeline of the agent's run, whose new entries are shown as calls. */
  readonly timeline?: Controller<{ readonly entries: readonly { readonly key: string; readonly actor: string }[] }>
}

/**
 * Creates a conversation. The text of an answer appears as it comes.
 *
 * @example
 * const conversation = createConversation({
 *   respond: async ({ say }) => say('The tests pass.'),
 * })
 * await conversation.send('Run the tests')
 * console.log(conversation.snapshot.items.map(({ kind }) => kind)) // ['person', 'agent']
 */
export function createConversation(options: ConversationOptions): Conversation {
  refuseSurplus('createConversation()', 1, arguments)
  const {
    respond,
    items = [],
    timeline,
  } = checkOptions<ConversationOptions>(
    'createConversation()',
    options,
    { respond: isFunction, items: isListOf(isObjectValue), timeline: isObjectWith('a timeline', 'subscribe') },
    'respond',
  )
  const conversation = new AnsweredConversation(respond, items, timeline)
  return {
    get snapshot() {
      return conversation.state.snapshot
    },
    subscribe: conversation.state.subscribe,
    send: (text, attachments) => conversation.send(text, attachments),
    resend: (item, message) => conversation.resend(item, message),
    unqueue: (at) => conversation.unqueue(at),
    stop: () => conversation.stop(),
  }
}

class AnsweredConversation {
  readonly state: ControllerState<ConversationSnapshot>
  readonly #respond: Respond
  readonly #timeline: ConversationOptions['timeline']
  #count: number
  #answering: AbortController | undefined

  constructor(respond: Respond, items: readonly ConversationItem[], timeline: ConversationOptions['timeline']) {
    this.state = new ControllerState<ConversationSnapshot>({ items, isWorking: false, queue: [] })
    this.#respond = respond
    this.#timeline = timeline
    this.#count = items.length
  }

  async send(text: string, attachments: readonly Attachment[] = []): Promise<void> {
    if (text.trim() === '') return
    const message: Message = { text, ...(attachments.length > 0 && { attachments }) }
    const { isWorking, queue } = this.state.snapshot
    if (isWorking) this.state.update({ queue: [...queue, message] })
    else await this.#answerAll(message)
  }

  async resend(item: string, message: Message): Promise<void> {
    const { items, isWorking } = this.state.snapshot
    const at = items.findIndex(({ id, kind }) => id === item && kind === 'person')
    if (at === -1 || isWorking || message.text.trim() === '') return
    this.state.update({ items: items.slice(0, at) })
    await this.#answerAll(message)
  }

  unqueue(at: number): void {
    this.state.update({ queue: this.state.snapshot.queue.filter((_, index) => index !== at) })
  }

  stop(): void {
    this.state.update({ queue: [] })
    this.#answering?.abort()
  }

  /** Answers a message, and then what waits in the queue. */
  async #answerAll(message: Message): Promise<void> {
    await this.#answer(message)
    for (let next = this.state.snapshot.queue[0]; next !== undefined; next = this.state.snapshot.queue[0]) {
      this.unqueue(0)
      await this.#answer(next)
    }
  }

  async #answer({ text, attachments = [] }: Message): Promise<void> {
    const stop = new AbortController()
    const { signal } = stop
    this.#answering = stop
    const names = attachments.map(({ name }) => name)
    this.#add({ kind: 'person', text, ...(names.length > 0 && { attachments: names }) })
    this.state.update({ isWorking: true })
    // An answer that was stopped says nothing more.
    const say = (piece: string) => !signal.aborted && this.#say(piece)
    const showCall = (entry: string) => !signal.aborted && this.#add({ kind: 'call', entry })
    const unsubscribe = followCalls(this.#timeline, showCall)
    try {
      await this.#respond({ items: this.state.snapshot.items, attachments, signal, say, showCall })
    } catch (error) {
      if (!signal.aborted) this.#add({ kind: 'error', text: error instanceof Error ? error.message : String(error) })
    } finally {
      unsubscribe()
      this.#answering = undefined
      this.state.update({ isWorking: false })
    }
  }

  #say(piece: string): void {
    const { items } = this.state.snapshot
    const last = items.at(-1)
    if (last?.kind !== 'agent') this.#add({ kind: 'agent', text: piece })
    else this.state.update({ items: [...items.slice(0, -1), { ...last, text: last.text + piece }] })
  }

  #add(item: SaidItem | CallItem): void {
    this.#count += 1
    this.state.update({ items: [...this.state.snapshot.items, { id: String(this.#count), ...item }] })
  }
}

interface SaidItem {
  readonly kind: 'person' | 'agent' | 'error'
  readonly text: string
  readonly attachments?: readonly string[]
}

interface CallItem {
  readonly kind: 'call'
  readonly entry: string
}

function followCalls(timeline: ConversationOptions['timeline'], onCall: (entry: string) => void): () => void {
  if (timeline === undefined) return () => {}
  const known = new Set(timeline.snapshot.entries.map(({ key }) => key))
  return timeline.subscribe(({ entries }) => {
    for (const { key, actor } of entries) {
      if (known.has(key)) continue
      known.add(key)
      if (actor === 'agent') onCall(key)
    }
  })
}
