import type { ModelMessage, UserContent } from 'ai'
import { ContextWindow } from './context-window.ts'
import { everyCallAnswered, withoutAnswer } from './messages.ts'
import { openModel } from './models.ts'
import { playTurn } from './play-turn.ts'
import type { Agent, AgentEvent, AgentOptions, Conversation, DoneReason, TurnOptions } from './types.ts'

/** How often a request is shortened and sent again in a turn, after the server has refused it as too long. */
const MAX_SHRINKS = 3

const emptyConversation: Conversation = { messages: [], usage: { steps: 0, inputTokens: 0, outputTokens: 0, ms: 0 } }

/** Creates an agent over the tools of a workspace. It runs the loop of the AI SDK, which a person can follow and stop. */
export function createAgent(options: AgentOptions): Agent {
  const loop = new AgentLoop(options)
  return {
    get isWorking() {
      return loop.isWorking
    },
    get conversation() {
      return loop.conversation
    },
    get canContinue() {
      return loop.canContinue
    },
    send: (content, turn) => loop.send(content, turn),
    rewind: (message) => loop.rewind(message),
    resume: (turn) => loop.resume(turn),
    next: () => loop.resume({ stepwise: true }),
    retry: (turn) => loop.retry(turn),
    stop: () => loop.stop(),
  }
}

class AgentLoop {
  conversation: Conversation
  readonly #options: AgentOptions
  #turn: { readonly stop: AbortController; readonly ended: Promise<DoneReason> } | undefined
  #model: ReturnType<typeof openModel> | undefined
  readonly #context: ContextWindow

  constructor(options: AgentOptions) {
    this.#options = options
    this.conversation = options.conversation ?? emptyConversation
    this.#context = new ContextWindow(this.conversation.compaction)
  }

  get isWorking(): boolean {
    return this.#turn !== undefined
  }

  get canContinue(): boolean {
    const last = this.conversation.messages.at(-1)?.role
    return !this.isWorking && (last === 'user' || last === 'tool')
  }

  async send(content: UserContent, options?: TurnOptions): Promise<DoneReason> {
    this.#requireIdle()
    this.#keep({ messages: [...everyCallAnswered(this.conversation.messages), { role: 'user', content }] })
    return this.#begin(options)
  }

  rewind(message: number): void {
    this.#requireIdle()
    const { messages } = this.conversation
    const starts = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : []))
    this.#cut(messages.slice(0, starts[message] ?? messages.length))
  }

  async resume(options?: TurnOptions): Promise<DoneReason> {
    this.#requireIdle()
    if (!this.canContinue) throw new Error('There is nothing to continue')
    return this.#begin(options)
  }

  async retry(options?: TurnOptions): Promise<DoneReason> {
    this.#requireIdle()
    const messages = withoutAnswer(this.conversation.messages)
    if (messages.length === 0) throw new Error('There is nothing to retry')
    this.#cut(messages)
    return this.#begin(options)
  }

  async stop(): Promise<void> {
    this.#turn?.stop.abort()
    await this.#turn?.ended
  }

  #requireIdle(): void {
    if (this.isWorking) throw new Error('The agent is working; stop it first')
  }

  #emit(event: AgentEvent): void {
    this.#options.onEvent?.(event)
  }

  #keep(changes: Partial<Conversation>): void {
    this.conversation = { ...this.conversation, ...changes }
    this.#emit({ type: 'conversation' })
  }

  /** Keeps the first messages alone. */
  #cut(messages: readonly ModelMessage[]): void {
    this.#context.cutTo(messages.length)
    this.#keep({ messages, compaction: this.#context.compaction })
  }

  #begin({ stepwise = false }: TurnOptions = {}): Promise<DoneReason> {
    const stop = new AbortController()
    const ended = this.#play(stop.signal, stepwise).then((reason) => {
      this.#turn = undefined
      this.#emit({ type: 'done', reason })
      return reason
    })
    this.#turn = { stop, ended }
    return ended
  }

  /** Plays a turn that continues the conversation. */
  async #play(signal: AbortSignal, stepwise: boolean): Promise<DoneReason> {
    try {
      return await this.#tryTurn(signal, stepwise)
    } catch (error) {
      // The next turn opens the model again.
      this.#model = undefined
      if (signal.aborted) return 'stopped'
      this.#emit({ type: 'error', message: error instanceof Error ? error.message : String(error), canRetry: true })
      return 'error'
    }
  }

  /** Plays the turn, again with a shorter conversation if the server refuses it as too long. */
  async #tryTurn(signal: AbortSignal, stepwise: boolean): Promise<DoneReason> {
    const { choice, pace = 0, fetch, limits = () => ({}), instructions } = this.#options
    this.#model ??= openModel(choice, { pace, ...(fetch && { fetch }) })
    const { model, context: countedUse } = await this.#model
    const instruction = (await instructions?.()) ?? ''
    for (let shrinks = 0; ; shrinks++) {
      this.conversation = { ...this.conversation, messages: everyCallAnswered(this.conversation.messages) }
      const end = await playTurn({
        model,
        tools: this.#options.tools(),
        conversation: this.conversation,
        keep: (changes) => this.#keep(changes),
        onEvent: (event) => this.#emit(event),
        instructions: instruction,
        context: this.#context,
        countedUse,
        ...{ signal, stepwise, limits },
      })
      if (end !== 'tooLong') return end
      if (shrinks === MAX_SHRINKS) throw new Error('413: The conversation is longer than the context of the model')
      this.#context.shrink()
    }
  }
}
