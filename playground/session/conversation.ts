import { computed, effect, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type {
  Agent,
  Conversation as AgentConversation,
  AgentEvent,
  AgentOptions,
  Scenario,
  Usage,
} from '../agent/types.ts'
import { choiceOf, type ModelPick } from './model.ts'
import type { Session } from './types.ts'

/** One thing in the conversation, as it is shown. */
export type ConversationItem =
  | { readonly kind: 'person'; readonly text: string }
  | { readonly kind: 'text' | 'reasoning'; readonly text: string }
  | {
      readonly kind: 'call'
      /** The model's name for it. */
      readonly id: string
      readonly tool: string
      readonly input: unknown
      readonly ok?: boolean
      readonly code?: string
    }
  | { readonly kind: 'error'; readonly text: string }
  | { readonly kind: 'end'; readonly text: string }

/** The conversation between the person and the agent in one project. */
export interface Conversation {
  readonly items: ReadonlySignal<readonly ConversationItem[]>
  readonly isWorking: ReadonlySignal<boolean>
  readonly canContinue: ReadonlySignal<boolean>
  readonly usage: ReadonlySignal<Usage>
  readonly pick: Signal<ModelPick>
  /** What the scripted model can be watched at; empty until it is loaded. */
  readonly scenarios: ReadonlySignal<readonly Scenario[]>
  /** What the person asks in the chosen scenario. */
  readonly prompt: ReadonlySignal<string | undefined>
  /** What the person may try once that has ended. */
  readonly afterwards: ReadonlySignal<string | undefined>
  send(text: string, stepwise?: boolean): Promise<void>
  stop(): Promise<void>
  next(): Promise<void>
  resume(): Promise<void>
  retry(): Promise<void>
  /** Begins anew: the agent knows nothing of what was said. */
  clear(): void
  close(): void
}

/** What is kept of a conversation over a reload. */
export interface SavedConversation {
  readonly items: readonly ConversationItem[]
  readonly messages: AgentConversation | undefined
  readonly pick: ModelPick
}

const noUsage: Usage = { steps: 0, inputTokens: 0, outputTokens: 0, ms: 0 }
/** A scripted model takes so long for a word, in milliseconds, that a person can follow. */
const PACE = 12

const ends: Readonly<Record<string, string>> = {
  stopped: 'Stopped',
  paused: 'Waits for the next step',
  limit: 'Stopped: as many steps as one turn may have',
}

/** The agent's code, once it is loaded. */
export interface LoadedAgent {
  createAgent(options: AgentOptions): Agent
  tools(session: Session): ReturnType<AgentOptions['tools']>
}

export interface ConversationOptions {
  readonly kept: SavedConversation | undefined
  readonly pick: ModelPick
  readonly load: () => Promise<LoadedAgent>
  readonly loadScenarios: () => Promise<readonly Scenario[]>
  readonly pace?: number
}

export function createConversation(
  session: Session,
  { kept, pick: first, load, loadScenarios, pace = PACE }: ConversationOptions,
): Conversation & {
  keep(): SavedConversation
  readonly grown: ReadonlySignal<number>
} {
  const items = signal<readonly ConversationItem[]>(kept?.items ?? [])
  const isWorking = signal(false)
  const canContinue = signal(false)
  const usage = signal<Usage>(kept?.messages?.usage ?? noUsage)
  const pick = signal<ModelPick>(kept?.pick ?? first)
  const grown = signal(0)
  const scenarios = signal<readonly Scenario[]>([])
  void loadScenarios().then((all) => {
    scenarios.value = all
  })
  const scenario = computed(() => {
    const chosen = pick.value
    return chosen.kind === 'scripted' ? scenarios.value.find(({ id }) => id === chosen.scenario) : undefined
  })
  let messages = kept?.messages
  let agent: Agent | undefined

  const add = (item: ConversationItem) => {
    items.value = [...items.value, item]
  }

  function hear(event: AgentEvent): void {
    switch (event.type) {
      case 'text':
      case 'reasoning': {
        const last = items.value.at(-1)
        if (last?.kind === event.type) {
          items.value = [...items.value.slice(0, -1), { ...last, text: last.text + event.delta }]
        } else add({ kind: event.type, text: event.delta })
        break
      }
      case 'step': {
        // What one step says and what the next one says are two texts.
        break
      }
      case 'call':
        add({ kind: 'call', id: event.id, tool: event.tool, input: event.input })
        break
      case 'result':
        items.value = items.value.map((item) =>
          item.kind === 'call' && item.id === event.id
            ? { ...item, ok: event.ok, ...(event.code === undefined ? {} : { code: event.code }) }
            : item,
        )
        break
      case 'usage':
        usage.value = event.total
        break
      case 'conversation':
        messages = agent?.conversation ?? messages
        grown.value += 1
        break
      case 'error':
        add({ kind: 'error', text: event.message })
        break
      case 'done': {
        const text = ends[event.reason]
        if (text !== undefined) add({ kind: 'end', text })
        break
      }
    }
  }

  async function agentNow(): Promise<Agent> {
    if (agent === undefined) {
      const { createAgent, tools } = await load()
      agent = createAgent({
        tools: () => tools(session),
        choice: choiceOf(pick.value),
        ...(messages === undefined ? {} : { conversation: messages }),
        onEvent: hear,
        pace,
      })
    }
    return agent
  }

  /** One turn, or a part of it. */
  async function turn(act: (agent: Agent) => Promise<unknown>): Promise<void> {
    if (isWorking.value) return
    isWorking.value = true
    try {
      const present = await agentNow()
      await act(present)
    } catch (error) {
      add({ kind: 'error', text: error instanceof Error ? error.message : String(error) })
    } finally {
      messages = agent?.conversation ?? messages
      canContinue.value = agent?.canContinue ?? false
      grown.value += 1
      isWorking.value = false
    }
  }

  // Another model: the agent is made anew and goes on from what was said.
  const end = effect(() => {
    pick.value
    messages = agent?.conversation ?? messages
    agent = undefined
  })

  // After a reload, the agent itself knows whether there is something to go on with.
  if (messages !== undefined) {
    void agentNow().then((made) => {
      canContinue.value = made.canContinue
    })
  }

  return {
    items,
    isWorking,
    canContinue,
    usage,
    pick,
    scenarios,
    prompt: computed(() => scenario.value?.prompt),
    afterwards: computed(() => scenario.value?.afterwards),
    grown,
    async send(text, stepwise = false) {
      // Another conversation is another run: what the former one was shown, this one was not.
      if (items.value.length === 0) await session.beginTask(text)
      add({ kind: 'person', text })
      await turn((made) => made.send(text, { stepwise }))
    },
    async stop() {
      await agent?.stop()
    },
    next: () => turn((made) => made.next()),
    resume: () => turn((made) => made.resume()),
    async retry() {
      const at = items.value.findLastIndex(({ kind }) => kind === 'person')
      items.value = items.value.slice(0, at + 1)
      await turn((made) => made.retry())
    },
    clear() {
      if (isWorking.value) return
      agent = undefined
      messages = undefined
      items.value = []
      usage.value = noUsage
      canContinue.value = false
      grown.value += 1
    },
    close: end,
    keep: () => ({ items: items.value, messages, pick: pick.value }),
  }
}
