import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { ContextUse } from '../agent/context-window.ts'
import { errorInWords } from '../agent/error-words.ts'
import type {
  Agent,
  Conversation as AgentConversation,
  AgentEvent,
  AgentOptions,
  Scenario,
  Usage,
} from '../agent/types.ts'
import { limitsFor } from './agent-settings.ts'
import { keyChanges } from './keys.ts'
import { labelOf } from './label.ts'
import { addressOf, choiceOf, choosePick, chosenPick, type ModelPick } from './model.ts'
import type { Session } from './types.ts'

/** One displayed item of the conversation. */
export type ConversationItem =
  | { readonly kind: 'person'; readonly text: string }
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
  | { readonly kind: 'end'; readonly text: string }
  /** From here on, the model had addresses instead of earlier results. */
  | { readonly kind: 'compacted' }

/** The conversation between the person and the agent in one project. */
export interface Conversation {
  readonly items: ReadonlySignal<readonly ConversationItem[]>
  readonly isWorking: ReadonlySignal<boolean>
  readonly canContinue: ReadonlySignal<boolean>
  readonly usage: ReadonlySignal<Usage>
  /** How full the context of the model was at the last request. */
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
  /** A suggestion for the time after the scenario. */
  readonly afterwards: ReadonlySignal<string | undefined>
  send(text: string, stepwise?: boolean): Promise<void>
  stop(): Promise<void>
  next(): Promise<void>
  resume(): Promise<void>
  retry(): Promise<void>
  /** Starts over with an agent that knows none of the earlier messages. */
  clear(): void
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
  readonly context?: ContextUse
}

const noUsage: Usage = { steps: 0, inputTokens: 0, outputTokens: 0, ms: 0 }
/** Milliseconds per word of a scripted model: slow enough to follow, and no wait for people who want no motion. */
const defaultPace = (): number => (globalThis.matchMedia?.('(prefers-reduced-motion: reduce)').matches ? 0 : 12)

const ends: Readonly<Record<string, string>> = {
  stopped: 'Stopped',
  paused: 'Waits for the next step',
  limit: 'Stopped: as many steps as one turn may have. Go on for as many again, or change the number in the settings.',
  tokens: 'Stopped: the next step would exceed the budget of tokens. Raise it in the settings, then go on.',
  cost: 'Stopped: the next step would exceed the budget of dollars. Raise it in the settings, then go on.',
  cut: 'The answer was cut off: it reached the model’s limit of output. Write “go on” for the rest.',
  filtered: 'The provider withheld the rest of the answer (content filter).',
  early: 'The answer ended early: the server broke it off. Write “go on” for the rest.',
  empty: 'The model answered with nothing. Try again, or choose another model.',
  repeated: 'Stopped: the model made the same call again and again, with the same result.',
}

/** Number of tries after a failure for which the server asks to wait. */
const MAX_TRIES = 3

/** The scripted model of a project. Other models are chosen for all projects. */
function scriptedOf(pick: ModelPick | undefined): ModelPick | undefined {
  return pick?.kind === 'scripted' ? pick : undefined
}

/** Says where the turn was when the page was closed. */
function describeInterruption(items: readonly ConversationItem[]): string {
  const open = items.findLast((item) => item.kind === 'call')
  const isCalling = open?.kind === 'call' && open.ok === undefined
  const where = isCalling ? `during ${labelOf(open.tool, open.input)}` : 'while the agent was answering'
  return `Interrupted ${where}: the page was closed or reloaded`
}

/** The agent's code, which is loaded on demand. */
export interface LoadedAgent {
  createAgent(options: AgentOptions): Agent
  tools(session: Session): ReturnType<AgentOptions['tools']>
  instructions(session: Session): Promise<string>
}

export interface ConversationOptions {
  readonly kept: SavedConversation | undefined
  readonly pick: ModelPick
  readonly load: () => Promise<LoadedAgent>
  readonly loadScenarios: () => Promise<readonly Scenario[]>
  readonly pace?: number
}

/** A conversation with what the session needs to save it. */
export interface StoredConversation extends Conversation {
  /** Returns what is saved over a reload. */
  save(): SavedConversation
  /** Counts up whenever the agent's messages change. */
  readonly changes: ReadonlySignal<number>
}

export function createConversation(session: Session, options: ConversationOptions): StoredConversation {
  return new SessionConversation(session, options)
}

class SessionConversation implements StoredConversation {
  readonly items: Signal<readonly ConversationItem[]>
  readonly isWorking = signal(false)
  readonly canContinue = signal(false)
  readonly usage: Signal<Usage>
  readonly context: Signal<ContextUse | undefined>
  readonly retryAt = signal<number | undefined>(undefined)
  #retryTimer: ReturnType<typeof setTimeout> | undefined
  #tries = 0
  readonly pick: Signal<ModelPick>
  readonly changes = signal(0)
  readonly scenarios = signal<readonly Scenario[]>([])
  readonly #scenario = computed(() => {
    const pick = this.pick.value
    return pick.kind === 'scripted' ? this.scenarios.value.find(({ id }) => id === pick.scenario) : undefined
  })
  readonly prompt = computed(() => this.#scenario.value?.prompt)
  readonly afterwards = computed(() => this.#scenario.value?.afterwards)
  readonly #session: Session
  readonly #load: () => Promise<LoadedAgent>
  readonly #pace: number
  #messages: AgentConversation | undefined
  #agent: Agent | undefined
  /** Whether the next turn needs a new agent. */
  #isStale = false
  /** Number of the items that the agent's messages contain. */
  #settled: number
  readonly close: () => void
  readonly next = () => this.#goOn(true)
  readonly resume = () => this.#goOn(false)

  constructor(session: Session, { kept, pick, load, loadScenarios, pace = defaultPace() }: ConversationOptions) {
    this.#session = session
    this.#load = load
    this.#pace = pace
    const items = kept?.items ?? []
    this.items = signal<readonly ConversationItem[]>(
      kept?.isWorking === true ? [...items, { kind: 'end', text: describeInterruption(items) }] : items,
    )
    this.#settled = kept?.settled ?? items.length
    this.usage = signal<Usage>(kept?.messages?.usage ?? noUsage)
    this.context = signal<ContextUse | undefined>(kept?.context)
    this.pick = signal<ModelPick>(chosenPick() ?? scriptedOf(kept?.pick) ?? pick)
    this.#messages = kept?.messages
    void loadScenarios().then((scenarios) => {
      this.scenarios.value = scenarios
    })
    // Another model or key needs a new agent, which continues from the same messages.
    const endFollowing = effect(() => {
      choosePick(this.pick.value)
      keyChanges.value
      this.#isStale = true
    })
    this.close = () => {
      endFollowing()
      this.cancelRetry()
    }
    // After a reload, only the agent knows whether the turn can continue.
    if (items.length > 0) {
      void this.#openAgent().then((agent) => {
        this.canContinue.value = agent.canContinue || this.#unsent !== undefined
      })
    }
  }

  /** The person's last message, if the page was closed before the agent received it. */
  get #unsent(): string | undefined {
    const sent = this.#messages?.messages.filter(({ role }) => role === 'user').length ?? 0
    const said = this.items.value.filter((item) => item.kind === 'person')
    return said.length > sent ? said.at(-1)?.text : undefined
  }

  /** Continues the turn. Its unfinished step is repeated, so its text is removed first. */
  async #goOn(stepwise: boolean): Promise<void> {
    if (this.isWorking.value) return
    this.items.value = this.items.value.slice(0, this.#settled)
    const unsent = this.#unsent
    await this.#turn((agent) => {
      if (unsent !== undefined) return agent.send(unsent, { stepwise })
      return stepwise ? agent.next() : agent.resume()
    })
  }

  async send(text: string, stepwise = false): Promise<void> {
    // A new conversation is a new run, so that it does not inherit what the previous one has read.
    if (this.items.value.length === 0) await this.#session.beginTask(text)
    this.#add({ kind: 'person', text })
    this.#settle()
    await this.#turn((agent) => agent.send(text, { stepwise }))
  }

  async stop(): Promise<void> {
    await this.#agent?.stop()
  }

  async retry(): Promise<void> {
    const lastPrompt = this.items.value.findLastIndex(({ kind }) => kind === 'person')
    this.items.value = this.items.value.slice(0, lastPrompt + 1)
    this.#settle()
    const unsent = this.#unsent
    await this.#turn((agent) => (unsent === undefined ? agent.retry() : agent.send(unsent)))
  }

  clear(): void {
    if (this.isWorking.value) return
    this.cancelRetry()
    this.#agent = undefined
    this.#messages = undefined
    this.items.value = []
    this.#settle()
    this.usage.value = noUsage
    this.context.value = undefined
    this.canContinue.value = false
    this.changes.value += 1
  }

  readonly save = (): SavedConversation => ({
    items: this.items.value,
    messages: this.#messages,
    pick: this.pick.value,
    settled: this.#settled,
    isWorking: this.isWorking.value,
    ...(this.context.value !== undefined && { context: this.context.value }),
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
        this.context.value = event.context
        this.#tries = 0
        this.#settle()
        break
      case 'conversation':
        this.#messages = this.#agent?.conversation ?? this.#messages
        this.changes.value += 1
        break
      case 'error':
        this.#onError(event)
        break
      case 'done': {
        const text = ends[event.reason]
        if (text !== undefined) this.#add({ kind: 'end', text })
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
    const hasBegun = this.items.value.length > this.#settled
    const address = addressOf(this.pick.value)
    const page = globalThis.location?.origin ?? ''
    this.#add({ kind: 'error', text: errorInWords(event, { address, page, hasBegun }) })
    if (event.retryAfterMs === undefined || this.#tries >= MAX_TRIES) return
    this.#tries += 1
    this.retryAt.value = Date.now() + event.retryAfterMs
    this.#retryTimer = setTimeout(() => void this.resume(), event.retryAfterMs)
  }

  cancelRetry(): void {
    clearTimeout(this.#retryTimer)
    this.retryAt.value = undefined
  }

  async #openAgent(): Promise<Agent> {
    if (this.#agent === undefined || this.#isStale) {
      this.#messages = this.#agent?.conversation ?? this.#messages
      this.#isStale = false
      const { createAgent, tools, instructions } = await this.#load()
      const pick = this.pick.value
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

  /** Runs one turn, or a part of it. */
  async #turn(act: (agent: Agent) => Promise<unknown>): Promise<void> {
    if (this.isWorking.value) return
    this.cancelRetry()
    this.isWorking.value = true
    try {
      const agent = await this.#openAgent()
      await act(agent)
    } catch (error) {
      this.#add({ kind: 'error', text: error instanceof Error ? error.message : String(error) })
    } finally {
      this.#messages = this.#agent?.conversation ?? this.#messages
      this.canContinue.value = this.#agent?.canContinue ?? false
      this.changes.value += 1
      this.isWorking.value = false
    }
  }
}
