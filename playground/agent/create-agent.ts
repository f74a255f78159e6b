import { everyCallAnswered, withoutAnswer } from './messages.ts'
import { openModel } from './models.ts'
import { playTurn } from './play-turn.ts'
import type { Agent, AgentOptions, Conversation, DoneReason, TurnOptions } from './types.ts'

const MAX_STEPS = 50

const nothingSaid: Conversation = { messages: [], usage: { steps: 0, inputTokens: 0, outputTokens: 0, ms: 0 } }

/** An agent over a workspace's tools: the loop of the AI SDK, with what a person needs to follow it and to stop it. */
export function createAgent(options: AgentOptions): Agent {
  const { choice, pace = 0, fetch, maxSteps = MAX_STEPS, onEvent = () => {} } = options
  let conversation = options.conversation ?? nothingSaid
  let turn: { readonly stop: AbortController; readonly ended: Promise<DoneReason> } | undefined
  let model: ReturnType<typeof openModel> | undefined

  function keep(next: Partial<Conversation>): void {
    conversation = { ...conversation, ...next }
    onEvent({ type: 'conversation' })
  }

  /** Plays a turn from where the conversation stands. */
  async function play(signal: AbortSignal, stepwise: boolean): Promise<DoneReason> {
    try {
      model ??= openModel(choice, { pace, ...(fetch && { fetch }) })
      const opened = await model
      conversation = { ...conversation, messages: everyCallAnswered(conversation.messages) }
      return await playTurn({
        model: opened.model,
        tools: options.tools(),
        ...{ conversation, keep, onEvent, signal, stepwise, maxSteps },
      })
    } catch (error) {
      // What cannot be opened now may be later.
      model = undefined
      if (signal.aborted) return 'stopped'
      onEvent({ type: 'error', message: error instanceof Error ? error.message : String(error), canRetry: true })
      return 'error'
    }
  }

  function begin({ stepwise = false }: TurnOptions = {}): Promise<DoneReason> {
    const stop = new AbortController()
    const ended = play(stop.signal, stepwise).then((reason) => {
      turn = undefined
      onEvent({ type: 'done', reason })
      return reason
    })
    turn = { stop, ended }
    return ended
  }

  function requireIdle(): void {
    if (turn !== undefined) throw new Error('The agent is working; stop it first')
  }

  const agent: Agent = {
    get isWorking() {
      return turn !== undefined
    },
    get conversation() {
      return conversation
    },
    get canContinue() {
      const last = conversation.messages.at(-1)?.role
      return turn === undefined && (last === 'user' || last === 'tool')
    },
    async send(text, options) {
      requireIdle()
      keep({ messages: [...everyCallAnswered(conversation.messages), { role: 'user', content: text }] })
      return begin(options)
    },
    async resume(options) {
      requireIdle()
      if (!agent.canContinue) throw new Error('There is nothing to go on with')
      return begin(options)
    },
    next: () => agent.resume({ stepwise: true }),
    async retry(options) {
      requireIdle()
      const messages = withoutAnswer(conversation.messages)
      if (messages.length === 0) throw new Error('There is nothing to try again')
      keep({ messages })
      return begin(options)
    },
    async stop() {
      turn?.stop.abort()
      await turn?.ended
    },
  }
  return agent
}
