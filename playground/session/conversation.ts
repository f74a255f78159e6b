import { computed, effect, type ReadonlySignal, type Signal, signal, untracked } from '@preact/signals'
import type { Attachment, Message } from 'wardspace/ui'
import type { ContextUse } from '../agent/context-window.ts'
import { errorInWords, MAX_WAIT } from '../agent/error-words.ts'
import type {
  Agent,
  Conversation as AgentConversation,
  AgentEvent,
  AgentOptions,
  DoneReason,
  Scenario,
  Suggestion,
  Usage,
} from '../agent/types.ts'
import { limitsFor } from './agent-settings.ts'
import type { Archive } from './archive.ts'
import { keyChanges } from './keys.ts'
import { choiceOf, choosePick, chosenPick, failedModel, type ModelPick } from './model.ts'
import { commandOf, describeInterruption, endWords } from './turn-words.ts'
import type { SavedSettings, Session } from './types.ts'

/** One displayed item of the conversation. */
export type ConversationItem =
  /** `attachments` are the names of files. */
  | { readonly kind: 'person'; readonly text: string; readonly attachments?: readonly string[] }
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | {
      readonly kind: 'call'
      /** The model's id of the call. */
      readonly id: string
      readonly tool: string
      readonly input: unknown
      readonly ok?: boolean
      readonly code?: string
    }
  | { readonly kind: 'error'; readonly text: string }
  /** Without a reason, the page was closed during the turn. */
  | { readonly kind: 'end'; readonly text: string; readonly reason?: DoneReason }
  /** From here on, the model had addresses instead of earlier results. */
  | { readonly kind: 'compacted' }

/** The conversations between the person and the agent in one project, of which one is open. */
export interface Conversation {
  readonly items: ReadonlySignal<readonly ConversationItem[]>
  readonly isWorking: ReadonlySignal<boolean>
  readonly canContinue: ReadonlySignal<boolean>
  readonly usage: ReadonlySignal<Usage>
  /** Milliseconds for which the agent has worked on the last message, in the latest try. */
  readonly taskMs: ReadonlySignal<number>
  /** How full the context of the model is. */
  readonly context: ReadonlySignal<ContextUse | undefined>
  /** The time of the next try after a failure, in milliseconds since 1970. */
  readonly retryAt: ReadonlySignal<number | undefined>
  /** Does not try again after a failure. */
  cancelRetry(): void
  readonly pick: Signal<ModelPick>
  /** The scenarios of the scripted model. Empty until they are loaded. */
  readonly scenarios: ReadonlySignal<readonly Scenario[]>
  /** The prompt of the selected scenario. */
  readonly prompt: ReadonlySignal<string | undefined>
  /** What the person may want to see after the scenario. */
  readonly afterwards: ReadonlySignal<Suggestion | undefined>
  /** The messages that are sent when the agent has finished. A turn that ends otherwise leaves them there. */
  readonly queue: Signal<readonly Message[]>
  /** The conversations that are not open. */
  readonly archive: Pick<Archive, 'all' | 'copyTo'>
  /**
   * Sends a message. While the agent works, it waits in the queue. `stop`, `go on` and `retry` are commands where they are
   * possible.
   */
  send(text: string, stepwise?: boolean, attachments?: readonly Attachment[]): Promise<void>
  /** Sends another message in the place of an earlier one, given by its item. Drops what came after it, except for changes to files. */
  resend(item: number, message: Message): Promise<void>
  /** Sends the first message of the queue. */
  sendNext(): Promise<void>
  stop(): Promise<void>
  next(): Promise<void>
  resume(): Promise<void>
  retry(): Promise<void>
  /** Opens an empty conversation, whose agent knows none of the earlier messages. The present one goes into the archive. */
  clear(): void
  /** Opens a conversation from the archive. */
  open(id: string): Promise<void>
  /** Deletes the open conversation. */
  remove(): void
  /** Returns what is saved over a reload. */
  save(): SavedConversation
  close(): void
}

/** The part of a conversation that is saved over a reload. */
export interface SavedConversation {
  readonly items: readonly ConversationItem[]
  readonly messages: AgentConversation | undefined
  readonly pick: ModelPick
  /** Number of the items that the agent's messages contain. The others are repeated when the turn goes on. */
  readonly settled?: number
  /** Whether the agent was working. */
  readonly isWorking?: boolean
  /** Whether a call of it was waiting for an approval. */
  readonly isAsking?: boolean
  readonly context?: ContextUse
  readonly taskMs?: number
  readonly queue?: readonly Message[]
  /** The last message, as long as the agent has not received it. */
  readonly unsent?: Message
  /** What its run continues with. Missing as long as it is the open conversation, since the session saves them. */
  readonly run?: SavedSettings['agent']
}

const noUsage: Usage = { steps: 0, inputTokens: 0, outputTokens: 0, ms: 0 }
/** Milliseconds per word of a scripted model: slow enough to follow, and no wait for people who want no motion. */
const defaultPace = (): number => (globalThis.matchMedia?.('(prefers-reduced-motion: reduce)').matches ? 0 : 12)

/** Number of tries after a failure for which the server asks to wait. */
const MAX_TRIES = 3

/** The scripted model of a project. Other models are chosen for all projects. */
function scriptedOf(pick: ModelPick | undefined): ModelPick | undefined {
  return pick?.kind === 'scripted' ? pick : undefined
}

/** The agent's code, which is loaded on demand. */
export interface LoadedAgent {
  createAgent(options: AgentOptions): Agent
  tools(session: Session): ReturnType<AgentOptions['tools']>
  instructions(session: Session): Promise<string>
  contentOf: typeof import('./message-content.ts').contentOf
}

export interface ConversationOptions {
  readonly kept: SavedConversation | undefined
  readonly pick: ModelPick
  readonly load: () => Promise<LoadedAgent>
  readonly loadScenarios: () => Promise<readonly Scenario[]>
  readonly archive: Archive
  /** Whether another tab has the project, and its agent may be working. */
  readonly isElsewhere?: boolean
  /** Stores the conversation and the state of the session now. */
  readonly store?: () => Promise<void>
  readonly pace?: number
}

/** A conversation with what the session needs to save it. */
export interface StoredConversation extends Conversation {
  /** Counts up whenever the agent's messages change. */
  readonly changes: ReadonlySignal<number>
}

export function createConversation(session: Session, options: ConversationOptions): StoredConversation {
  return new SessionConversation(session, options)
}

class SessionConversation implements StoredConversation {
  readonly items = signal<readonly ConversationItem[]>([])
  readonly isWorking = signal(false)
  readonly canContinue = signal(false)
  readonly usage = signal<Usage>(noUsage)
  readonly taskMs = signal(0)
  readonly context = signal<ContextUse | undefined>(undefined)
  readonly retryAt = signal<number | undefined>(undefined)
  #retryTimer: ReturnType<typeof setTimeout> | undefined
  #tries = 0
  /** The server, the model and the key that the agent asks. */
  #asked: string | undefined
  readonly pick: Signal<ModelPick>
  readonly changes = signal(0)
  readonly scenarios = signal<readonly Scenario[]>([])
  readonly #scenario = computed(() => {
    const pick = this.pick.value
    return pick.kind === 'scripted' ? this.scenarios.value.find(({ id }) => id === pick.scenario) : undefined
  })
  readonly prompt = computed(() => this.#scenario.value?.prompt)
  readonly afterwards = computed(() => this.#scenario.value?.afterwards)
  readonly queue = signal<readonly Message[]>([])
  readonly archive: Archive
  readonly #session: Session
  readonly #load: () => Promise<LoadedAgent>
  readonly #store: () => Promise<void>
  readonly #pace: number
  #messages: AgentConversation | undefined
  /** The message that the agent is about to receive. */
  #unsent: Message | undefined
  #agent: Agent | undefined
  /** Whether the next turn needs a new agent. */
  #isStale = false
  /** Number of the items that the agent's messages contain. */
  #settled = 0
  readonly close: () => void
  readonly next = () => this.#goOn(true)
  readonly resume = () => this.#goOn(false)

  constructor(session: Session, options: ConversationOptions) {
    const { kept, pick, load, loadScenarios, archive, store = async () => {}, pace = defaultPace() } = options
    this.#session = session
    this.#load = load
    this.#store = store
    this.#pace = pace
    this.archive = archive
    this.pick = signal<ModelPick>(chosenPick() ?? scriptedOf(kept?.pick) ?? pick)
    this.#restore(kept, options.isElsewhere)
    void loadScenarios().then((scenarios) => {
      this.scenarios.value = scenarios
    })
    // Another model or key needs a new agent, which continues from the same messages.
    const endFollowing = effect(() => {
      choosePick(this.pick.value)
      const target = this.#target
      this.#isStale = true
      if (this.retryAt.peek() !== undefined && target !== this.#asked) untracked(() => this.#endWaiting())
    })
    this.close = () => {
      endFollowing()
      this.cancelRetry()
    }
    this.#learnWhetherToContinue()
  }

  /** Shows a saved conversation, or an empty one. */
  #restore(kept: SavedConversation | undefined, isElsewhere = false): void {
    const items = kept?.items ?? []
    this.#agent = undefined
    this.#messages = kept?.messages
    this.#unsent = kept?.unsent
    this.#settled = kept?.settled ?? items.length
    const end = isElsewhere
      ? 'The agent was at work in another tab when this one was opened'
      : describeInterruption(items, kept?.isAsking)
    this.items.value = kept?.isWorking === true ? [...items, { kind: 'end', text: end }] : items
    this.usage.value = kept?.messages?.usage ?? noUsage
    this.context.value = kept?.context
    this.taskMs.value = kept?.taskMs ?? 0
    this.queue.value = kept?.queue ?? []
    this.canContinue.value = false
    this.changes.value += 1
  }

  /** After a reload, only the agent knows whether the turn can continue. */
  #learnWhetherToContinue(): void {
    if (this.items.value.length === 0) return
    void this.#openAgent().then((agent) => {
      this.canContinue.value = !this.isWorking.value && (agent.canContinue || this.#lastUnsent !== undefined)
    })
  }

  /** The person's last message, if the page was closed before the agent received it. */
  get #lastUnsent(): Message | undefined {
    if (this.#unsent !== undefined) return this.#unsent
    const sent = this.#messages?.messages.filter(({ role }) => role === 'user').length ?? 0
    const said = this.items.value.filter((item) => item.kind === 'person')
    return said.length > sent ? said.at(-1) && { text: said.at(-1)?.text ?? '' } : undefined
  }

  /** Continues the turn. Its unfinished step is repeated, so its text is removed first. */
  async #goOn(stepwise: boolean): Promise<void> {
    if (this.isWorking.value) return
    this.items.value = this.items.value.slice(0, this.#settled)
    const unsent = this.#lastUnsent
    await this.#turn((agent) => {
      if (unsent !== undefined) return this.#deliver(agent, unsent, stepwise)
      return stepwise ? agent.next() : agent.resume()
    })
  }

  /** Gives a message to the agent, with the files that it names. */
  async #deliver(agent: Agent, message: Message, stepwise = false): Promise<DoneReason> {
    this.#unsent = message
    // Whatever happens to the page from here on, the message is not lost.
    const [{ contentOf }] = await Promise.all([this.#load(), this.#store()])
    return agent.send(await contentOf(this.#session, message.text, message.attachments ?? []), { stepwise })
  }

  async send(text: string, stepwise = false, attachments: readonly Attachment[] = []): Promise<void> {
    const message: Message = { text, ...(attachments.length > 0 && { attachments }) }
    if (attachments.length === 0 && (await this.#obey(text))) return
    if (this.isWorking.value) this.queue.value = [...this.queue.value, message]
    else await this.#begin(message, stepwise)
  }

  /** Does what a message asks of the page. Returns false for a message to the agent. */
  async #obey(text: string): Promise<boolean> {
    const command = commandOf(text)
    if (command === undefined) return false
    if (this.isWorking.value) {
      if (command === 'stop') await this.stop()
      return command === 'stop'
    }
    const canDo = command === 'stop' || (command === 'retry' ? this.items.value.length > 0 : this.canContinue.value)
    if (!canDo) return false
    if (command === 'retry') await this.retry()
    else if (command === 'go on') await this.resume()
    return true
  }

  async #begin(message: Message, stepwise: boolean): Promise<void> {
    await this.#turn(
      (agent) => this.#deliver(agent, message, stepwise),
      () => this.#say(message),
    )
  }

  async #say({ text, attachments = [] }: Message): Promise<void> {
    // A new conversation is a new run, so that it does not inherit what the previous one has read.
    if (this.items.value.length === 0) await this.#session.beginTask(text)
    const names = attachments.map(({ name }) => name)
    this.taskMs.value = 0
    this.#tries = 0
    this.#add({ kind: 'person', text, ...(names.length > 0 && { attachments: names }) })
    this.#settle()
  }

  async sendNext(): Promise<void> {
    const [next, ...others] = this.queue.value
    if (next === undefined || this.isWorking.value) return
    this.queue.value = others
    await this.#begin(next, false)
  }

  async resend(item: number, message: Message): Promise<void> {
    await this.#turn(
      (agent) => this.#deliver(agent, message),
      async () => {
        const before = this.items.value.slice(0, item)
        const agent = await this.#openAgent()
        agent.rewind(before.filter(({ kind }) => kind === 'person').length)
        this.#unsent = undefined
        this.items.value = before
        await this.#say(message)
      },
    )
  }

  async stop(): Promise<void> {
    await this.#agent?.stop()
  }

  async retry(): Promise<void> {
    const lastPrompt = this.items.value.findLastIndex(({ kind }) => kind === 'person')
    this.items.value = this.items.value.slice(0, lastPrompt + 1)
    this.taskMs.value = 0
    this.#tries = 0
    this.#settle()
    const unsent = this.#lastUnsent
    await this.#turn((agent) => (unsent === undefined ? agent.retry() : this.#deliver(agent, unsent)))
  }

  /** The open conversation for the archive, or undefined when it is empty. */
  get #forArchive(): SavedConversation | undefined {
    return this.items.value.length === 0 ? undefined : { ...this.save(), run: this.#session.agentState() }
  }

  clear(): void {
    if (this.isWorking.value) return
    const before = this.#forArchive
    if (before !== undefined) void this.archive.put(before)
    this.remove()
  }

  remove(): void {
    if (this.isWorking.value) return
    this.cancelRetry()
    this.#restore(undefined)
  }

  async open(id: string): Promise<void> {
    if (this.isWorking.value) return
    const next = await this.archive.swap(this.#forArchive, id)
    this.cancelRetry()
    // What the conversation has read counts for its next calls.
    await this.#session.resumeRun(next.run ?? {})
    this.#restore(next)
    this.#learnWhetherToContinue()
  }

  readonly save = (): SavedConversation => ({
    items: this.items.value,
    messages: this.#messages,
    pick: this.pick.value,
    settled: this.#settled,
    isWorking: this.isWorking.value,
    isAsking: this.#session.approvals.value.some(({ actor }) => actor === 'agent'),
    taskMs: this.taskMs.value,
    ...(this.context.value !== undefined && { context: this.context.value }),
    ...(this.queue.value.length > 0 && { queue: this.queue.value }),
    ...(this.#unsent !== undefined && { unsent: this.#unsent }),
  })

  /** The agent's messages contain all items so far. */
  #settle(): void {
    this.#settled = this.items.value.length
  }

  #add(item: ConversationItem): void {
    this.items.value = [...this.items.value, item]
  }

  /** Appends to the last item if it is of the same kind. */
  #append(kind: 'text' | 'reasoning', delta: string): void {
    const last = this.items.value.at(-1)
    if (last?.kind !== kind) this.#add({ kind, text: delta })
    else this.items.value = [...this.items.value.slice(0, -1), { ...last, text: last.text + delta }]
  }

  #onEvent(event: AgentEvent): void {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        this.#append(event.type, event.delta)
        break
      case 'step':
        break
      case 'compacted':
        this.#noteCompaction()
        break
      case 'call':
        this.#add({ kind: 'call', id: event.id, tool: event.tool, input: event.input })
        this.#settle()
        break
      case 'result':
        this.items.value = this.items.value.map((item) =>
          item.kind === 'call' && item.id === event.id
            ? { ...item, ok: event.ok, ...(event.code === undefined ? {} : { code: event.code }) }
            : item,
        )
        break
      case 'usage':
        this.usage.value = event.total
        this.taskMs.value += event.ms
        this.context.value = event.context
        this.#tries = 0
        this.#settle()
        break
      case 'conversation':
        this.#messages = this.#agent?.conversation ?? this.#messages
        this.#unsent = undefined
        this.changes.value += 1
        break
      case 'error':
        this.#onError(event)
        break
      case 'done': {
        // A call of an answer that was cut off is never carried out.
        this.items.value = this.items.value.map((item) =>
          item.kind === 'call' && item.ok === undefined ? { ...item, ok: false, code: 'ABORTED' } : item,
        )
        const text = endWords[event.reason]
        if (text !== undefined) this.#add({ kind: 'end', text, reason: event.reason })
        break
      }
    }
  }

  /** Notes it once for calls that follow each other. */
  #noteCompaction(): void {
    const isNoted = this.items.value.findLast(({ kind }) => kind !== 'call')?.kind === 'compacted'
    if (!isNoted) this.#add({ kind: 'compacted' })
  }

  #onError(event: Extract<AgentEvent, { type: 'error' }>): void {
    const { hasBegun = false } = event
    this.#add({ kind: 'error', text: errorInWords(event, failedModel(this.pick.value, hasBegun)) })
    if (event.retryAfterMs === undefined || event.retryAfterMs > MAX_WAIT || this.#tries >= MAX_TRIES) return
    if (this.#target !== this.#asked) {
      this.#endWaiting()
      return
    }
    this.#tries += 1
    this.retryAt.value = Date.now() + event.retryAfterMs
    this.#retryTimer = setTimeout(() => void this.resume(), event.retryAfterMs)
  }

  cancelRetry(): void {
    clearTimeout(this.#retryTimer)
    this.retryAt.value = undefined
  }

  /** The server, model and key of the next request. A retry does not go to another one. */
  get #target(): string {
    const pick = this.pick.value
    const server = pick.kind === 'endpoint' ? [pick.provider, pick.baseUrl, pick.model] : []
    return JSON.stringify([pick.kind, ...server, keyChanges.value])
  }

  #endWaiting(): void {
    this.cancelRetry()
    this.#add({ kind: 'end', text: 'Not tried again: the server, the model or the key has changed', reason: 'error' })
  }

  async #openAgent(): Promise<Agent> {
    if (this.#agent === undefined || this.#isStale) {
      this.#messages = this.#agent?.conversation ?? this.#messages
      this.#isStale = false
      const { createAgent, tools, instructions } = await this.#load()
      const pick = this.pick.value
      this.#asked = this.#target
      this.#agent = createAgent({
        tools: () => tools(this.#session),
        choice: choiceOf(pick),
        limits: () => limitsFor(pick),
        ...(pick.kind === 'endpoint' && { instructions: () => instructions(this.#session) }),
        ...(this.#messages === undefined ? {} : { conversation: this.#messages }),
        onEvent: (event) => this.#onEvent(event),
        pace: this.#pace,
      })
    }
    return this.#agent
  }

  /** Runs one turn, or a part of it, and then what waits in the queue. */
  async #turn(act: (agent: Agent) => Promise<DoneReason>, prepare?: () => Promise<void>): Promise<void> {
    if (this.isWorking.value) return
    this.cancelRetry()
    this.isWorking.value = true
    let reason: DoneReason = 'error'
    try {
      await prepare?.()
      reason = await act(await this.#openAgent())
    } catch (error) {
      this.#add({ kind: 'error', text: error instanceof Error ? error.message : String(error) })
    } finally {
      this.#messages = this.#agent?.conversation ?? this.#messages
      this.canContinue.value = this.#agent?.canContinue ?? false
      this.changes.value += 1
      this.isWorking.value = false
    }
    if (reason === 'finished') await this.sendNext()
  }
}
