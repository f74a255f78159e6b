import type { LanguageModelUsage, ModelMessage, StepResult, TextStreamPart, ToolSet } from 'ai'
import type { CallableTools } from 'wardspace/ai-sdk'
import { costOf, overBudget } from './budget.ts'
import type { ContextUse, ContextWindow } from './context-window.ts'
import { describeError } from './describe-error.ts'
import { type EndedCall, type FollowedTools, followCalls } from './follow-calls.ts'
import type { LanguageModel } from './models.ts'
import { type OpenStep, openStep } from './open-step.ts'
import { createQueue } from './queue.ts'
import { readEarlier } from './read-earlier.ts'
import { Repetition } from './repetition.ts'
import { systemPromptWith } from './system-prompt.ts'
import type { AgentEvent, AgentLimits, Conversation, DoneReason, Prices, Usage } from './types.ts'
import { uniqueCallIds } from './unique-call-ids.ts'

export interface Turn {
  readonly model: LanguageModel
  readonly tools: CallableTools
  /** Its last message is the one to answer. */
  readonly conversation: Conversation
  readonly keep: (changes: Partial<Conversation>) => void
  readonly onEvent: (event: AgentEvent) => void
  readonly signal: AbortSignal
  readonly stepwise: boolean
  readonly limits: () => AgentLimits
  readonly instructions: string
  readonly context: ContextWindow
  /** How full the context was, of a model that counts it itself. */
  readonly countedUse: (() => ContextUse | undefined) | undefined
}

/** How a turn ends, for the loop: `tooLong` if the server refused the conversation as too long for its model. */
export type TurnEnd = DoneReason | 'tooLong'

const MAX_STEPS = 50

/** Plays one turn: the SDK asks the model, carries out its calls and asks again, until the model calls nothing. */
export async function playTurn(turn: Turn): Promise<TurnEnd> {
  const [{ streamText, wrapLanguageModel }, { aiSdkTools }] = await Promise.all([
    import('ai'),
    import('wardspace/ai-sdk'),
  ])
  turn.signal.throwIfAborted()
  // The SDK's warnings are for developers and would fill the console of the page.
  globalThis.AI_SDK_LOG_WARNINGS = false
  const player = new TurnPlayer(turn)
  const system = systemPromptWith(turn.instructions)
  const toolsOf = (source: CallableTools) => aiSdkTools(source, { results: 'json' })
  const tools = toolsOf(player.tools)
  turn.context.begin(turn.limits().contextTokens, system.length + charactersOfTools(turn.tools))
  const reason = player.overBudget(turn.conversation.messages)
  if (reason !== undefined) return reason
  const { fullStream } = streamText({
    model: wrapLanguageModel({ model: turn.model, middleware: uniqueCallIds(turn.conversation.messages) }),
    system,
    messages: [...turn.conversation.messages],
    tools,
    activeTools: Object.keys(tools),
    // The SDK knows only the tools that the model may call. The workspace also refuses and records a call of another one.
    experimental_repairToolCall: async ({ toolCall, tools: toolsOfStep, error }) => {
      if (error.name !== 'AI_NoSuchToolError') return null
      const named = player.tools.tools.slice(0, 1).map((tool) => ({ ...tool, name: toolCall.toolName }))
      Object.assign(toolsOfStep, toolsOf({ ...player.tools, tools: named }))
      return toolCall
    },
    prepareStep: ({ messages }) => ({ messages: [...player.fit(messages)] }),
    stopWhen: ({ steps }) => player.isOver(steps),
    abortSignal: turn.signal,
    // The person sees each failure, with the time until the next try.
    maxRetries: 0,
    experimental_include: { requestBody: false },
    // Errors also arrive in the stream.
    onError: () => {},
    onStepFinish: (step) => player.endStep(step),
  })
  return player.play(fullStream)
}

type Part = TextStreamPart<ToolSet>

/** Reasons of a model for an answer that is not complete. */
const ends: Readonly<Record<string, DoneReason>> = {
  length: 'cut',
  'content-filter': 'filtered',
  error: 'early',
  other: 'early',
  unknown: 'early',
}

/** Whether an answer has neither text nor calls. */
function isEmpty({ role, content }: ModelMessage): boolean {
  if (role !== 'assistant') return false
  if (typeof content === 'string') return content.trim() === ''
  return content.every((part) => part.type === 'reasoning' || (part.type === 'text' && part.text.trim() === ''))
}

/** Follows the stream and the calls of one turn, and keeps the conversation complete after each of them. */
class TurnPlayer {
  readonly tools: FollowedTools
  readonly repetition = new Repetition()
  /** For each finished step, the messages of the turn so far. */
  readonly finishedSteps = createQueue<readonly ModelMessage[]>()
  readonly #turn: Turn
  #messages: readonly ModelMessage[]
  #usage: Usage
  /** The step that has not finished. */
  #step: OpenStep | undefined
  #steps = 0
  #stepBeganAt = performance.now()
  /** Whether anything of the answer has arrived in this step. */
  #hasBegun = false
  /** Whether the model has said or called something in this step. */
  #hasContent = false
  /** Whether the request of the next step was compacted. */
  #isCompacted = false
  #reason: TurnEnd = 'finished'
  /** Why the turn ends although the model wants more. */
  #end: DoneReason | undefined
  /** Whether the model has called something in this step. */
  #hasCalls = false
  /** The calls of this step whose input is not JSON. */
  #unreadable: Extract<Part, { type: 'tool-error' }>[] = []
  readonly #announced = new Set<string>()
  /** The calls that wait until the stream announces them, by id. */
  readonly #waiting = new Map<string, () => void>()

  constructor(turn: Turn) {
    this.#turn = turn
    this.#messages = turn.conversation.messages
    this.#usage = turn.conversation.usage
    const on = {
      begins: (id: string, tool: string, input: unknown) => this.#beginCall(id, tool, input),
      ended: (call: EndedCall) => this.#endCall(call),
    }
    const answer = (tool: string, input: unknown) => readEarlier(() => this.#all(), tool, input)
    this.tools = followCalls(turn.tools, on, { repetition: this.repetition, answer })
  }

  /** Returns the messages of the next request. */
  fit(messages: readonly ModelMessage[]): readonly ModelMessage[] {
    const { context } = this.#turn
    const before = context.compaction
    const sent = context.fit(messages)
    this.#isCompacted ||= context.compaction !== before
    return sent
  }

  /** Returns the reason if the next request would exceed a budget. */
  overBudget(messages: readonly ModelMessage[], usage = this.#usage): DoneReason | undefined {
    return overBudget(usage, this.#turn.context.tokensFor(messages), this.#turn.limits())
  }

  endStep({ content, response }: StepResult<ToolSet>): void {
    for (const part of content) {
      if (part.type !== 'tool-error') continue
      this.repetition.noteFailed(part.toolName, part.input, describeError(part.error).message)
    }
    this.finishedSteps.put(response.messages)
  }

  /** Whether the turn ends after a step that called tools. */
  isOver(steps: readonly StepResult<ToolSet>[]): boolean {
    const { conversation, limits, stepwise } = this.#turn
    const { maxSteps = MAX_STEPS, prices } = limits()
    const last = steps.at(-1)
    // The SDK asks again after a call that was cut off in its input.
    if (last !== undefined && last.finishReason in ends) return true
    const usage = steps.reduce((sum, step) => addUsage(sum, tokensOf(step.usage), prices), conversation.usage)
    const messages = [...conversation.messages, ...(last?.response.messages ?? [])]
    this.#end = this.overBudget(messages, usage)
    return this.#end !== undefined || steps.length >= maxSteps || stepwise || this.repetition.isFound
  }

  async play(stream: AsyncIterable<Part>): Promise<TurnEnd> {
    for await (const part of stream) await this.#take(part)
    for (const resume of this.#waiting.values()) resume()
    await this.tools.settled()
    if (this.#step !== undefined) this.#keep()
    return this.#turn.signal.aborted ? 'stopped' : (this.#end ?? this.#reason)
  }

  async #take(part: Part): Promise<void> {
    const { onEvent } = this.#turn
    this.#hasBegun ||= /-(start|delta)$/.test(part.type)
    if (part.type === 'start-step') this.#beginStep()
    else if (part.type === 'text-delta') {
      this.#step?.says(part.text)
      if (part.text.trim() !== '') this.#hasContent = true
      onEvent({ type: 'text', delta: part.text })
    } else if (part.type === 'reasoning-delta') onEvent({ type: 'reasoning', delta: part.text })
    else if (part.type === 'tool-call') this.#announce(part.toolCallId, part.toolName, part.input)
    else if (part.type === 'tool-error') this.#unreadable.push(part)
    else if (part.type === 'finish-step') await this.#finishStep(part)
    else if (part.type === 'abort') this.#reason = 'stopped'
    else if (part.type === 'error') {
      const { isTooLong = false, ...error } = describeError(part.error)
      this.#reason = isTooLong ? 'tooLong' : 'error'
      if (!isTooLong) onEvent({ type: 'error', ...error, hasBegun: this.#hasBegun })
    }
  }

  #beginStep(): void {
    this.#steps += 1
    this.#stepBeganAt = performance.now()
    this.#hasBegun = false
    this.#hasContent = false
    this.#hasCalls = false
    this.#unreadable = []
    this.#step ??= openStep()
    if (this.#isCompacted) this.#turn.onEvent({ type: 'compacted' })
    this.#isCompacted = false
    this.#turn.onEvent({ type: 'step', step: this.#steps })
  }

  async #finishStep({ usage, finishReason }: Extract<Part, { type: 'finish-step' }>): Promise<void> {
    const { conversation, onEvent, stepwise } = this.#turn
    const turnSoFar = await this.finishedSteps.take()
    // The last call of an answer that was cut off is not wrong, but incomplete.
    for (const { toolCallId: id, toolName: tool, error } of finishReason in ends ? [] : this.#unreadable) {
      const seen = { type: 'error-text', value: describeError(error).message }
      onEvent({ type: 'result', id, tool, ok: false, seen, ms: 0 })
    }
    const stepUsage = { ...tokensOf(usage), ms: performance.now() - this.#stepBeganAt }
    this.#usage = addUsage(this.#usage, stepUsage, this.#turn.limits().prices)
    this.#turn.context.learn(stepUsage.inputTokens)
    if (this.#reason !== 'error' && this.#reason !== 'tooLong') {
      // Servers refuse a conversation with an empty answer.
      const said = this.#hasContent ? turnSoFar : turnSoFar.filter((message) => !isEmpty(message))
      this.#messages = [...conversation.messages, ...said]
      this.#step = undefined
      // Some servers say that they call a tool and call none.
      if (finishReason === 'tool-calls' && this.#hasCalls) this.#reason = stepwise ? 'paused' : 'limit'
      else this.#reason = ends[finishReason] ?? (this.#hasContent ? 'finished' : 'empty')
      if (this.repetition.isFound) this.#reason = 'repeated'
    }
    this.#keep()
    const context = this.#turn.countedUse?.() ?? this.#turn.context.useWith(this.#all())
    onEvent({ type: 'usage', ...stepUsage, total: this.#usage, context })
  }

  /** The SDK runs ahead of its own stream: a call waits until the words before it have arrived. */
  async #beginCall(id: string, tool: string, input: unknown): Promise<void> {
    if (!this.#announced.has(id)) await new Promise<void>((resolve) => this.#waiting.set(id, resolve))
    this.#announce(id, tool, input)
    this.#keep()
  }

  #endCall(call: EndedCall): void {
    this.#step?.ended(call.id, call.tool, call.seen)
    this.#turn.onEvent({ type: 'result', ...call })
    this.#keep()
  }

  #announce(id: string, tool: string, input: unknown): void {
    if (this.#announced.has(id)) return
    this.#announced.add(id)
    this.#hasContent = true
    this.#hasCalls = true
    this.#step ??= openStep()
    this.#step.calls(id, tool, input)
    this.#turn.onEvent({ type: 'call', id, tool, input })
    this.#waiting.get(id)?.()
  }

  #keep(): void {
    this.#turn.keep({ messages: this.#all(), usage: this.#usage, compaction: this.#turn.context.compaction })
  }

  /** All messages, with those of the step in progress. */
  #all(): readonly ModelMessage[] {
    return [...this.#messages, ...(this.#step?.messages() ?? [])]
  }
}

function tokensOf({ inputTokens = 0, outputTokens = 0 }: LanguageModelUsage) {
  return { inputTokens, outputTokens, ms: 0 }
}

function addUsage(total: Usage, step: Omit<Usage, 'steps'>, prices: Prices | undefined): Usage {
  return {
    steps: total.steps + 1,
    inputTokens: total.inputTokens + step.inputTokens,
    outputTokens: total.outputTokens + step.outputTokens,
    ms: total.ms + step.ms,
    ...(prices === undefined
      ? total.cost !== undefined && { cost: total.cost }
      : { cost: (total.cost ?? 0) + costOf(step, prices) }),
  }
}

/** The tools are part of every request. */
function charactersOfTools({ tools }: CallableTools): number {
  return tools.reduce((sum, { name, description, inputSchema }) => {
    return sum + name.length + description.length + JSON.stringify(inputSchema).length
  }, 0)
}
