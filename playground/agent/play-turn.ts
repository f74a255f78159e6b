import type { LanguageModel, ModelMessage, TextStreamPart, ToolSet } from 'ai'
import type { CallableTools } from 'wardspace/ai-sdk'
import { describeError } from './describe-error.ts'
import { type EndedCall, type FollowedTools, followCalls } from './follow-calls.ts'
import { type OpenStep, openStep } from './open-step.ts'
import { createQueue } from './queue.ts'
import { Repetition } from './repetition.ts'
import { systemPrompt } from './system-prompt.ts'
import type { AgentEvent, Conversation, DoneReason, Usage } from './types.ts'

export interface Turn {
  readonly model: LanguageModel
  readonly tools: CallableTools
  /** Its last message is the one to answer. */
  readonly conversation: Conversation
  readonly keep: (changes: Partial<Conversation>) => void
  readonly onEvent: (event: AgentEvent) => void
  readonly signal: AbortSignal
  readonly stepwise: boolean
  readonly maxSteps: number
}

/** Plays one turn: the SDK asks the model, carries out its calls and asks again, until the model calls nothing. */
export async function playTurn(turn: Turn): Promise<DoneReason> {
  const [{ streamText, stepCountIs }, { aiSdkTools }] = await Promise.all([import('ai'), import('wardspace/ai-sdk')])
  turn.signal.throwIfAborted()
  // The SDK's warnings are for developers and would fill the console of the page.
  globalThis.AI_SDK_LOG_WARNINGS = false
  const player = new TurnPlayer(turn)
  const { fullStream } = streamText({
    model: turn.model,
    system: systemPrompt,
    messages: [...turn.conversation.messages],
    tools: aiSdkTools(player.tools, { results: 'json' }),
    stopWhen: [stepCountIs(turn.maxSteps), () => turn.stepwise || player.repetition.isFound],
    abortSignal: turn.signal,
    // The person sees each failure, with the time until the next try.
    maxRetries: 0,
    experimental_include: { requestBody: false },
    // Errors also arrive in the stream.
    onError: () => {},
    onStepFinish: ({ response }) => player.finishedSteps.put(response.messages),
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
  /** Whether the model has said or called something in this step. */
  #hasContent = false
  #reason: DoneReason = 'finished'
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
    this.tools = followCalls(turn.tools, on, this.repetition)
  }

  async play(stream: AsyncIterable<Part>): Promise<DoneReason> {
    for await (const part of stream) await this.#take(part)
    for (const resume of this.#waiting.values()) resume()
    await this.tools.settled()
    if (this.#step !== undefined) this.#keep()
    return this.#turn.signal.aborted ? 'stopped' : this.#reason
  }

  async #take(part: Part): Promise<void> {
    const { onEvent } = this.#turn
    if (part.type === 'start-step') this.#beginStep()
    else if (part.type === 'text-delta') {
      this.#step?.says(part.text)
      if (part.text.trim() !== '') this.#hasContent = true
      onEvent({ type: 'text', delta: part.text })
    } else if (part.type === 'reasoning-delta') onEvent({ type: 'reasoning', delta: part.text })
    else if (part.type === 'tool-call') this.#announce(part.toolCallId, part.toolName, part.input)
    else if (part.type === 'tool-error') {
      // The model named a tool that does not exist, or its input is not JSON.
      const seen = { type: 'error-text', value: describeError(part.error).message }
      onEvent({ type: 'result', id: part.toolCallId, tool: part.toolName, ok: false, seen, ms: 0 })
    } else if (part.type === 'finish-step') await this.#finishStep(part)
    else if (part.type === 'abort') this.#reason = 'stopped'
    else if (part.type === 'error') {
      this.#reason = 'error'
      onEvent({ type: 'error', ...describeError(part.error) })
    }
  }

  #beginStep(): void {
    this.#steps += 1
    this.#stepBeganAt = performance.now()
    this.#hasContent = false
    this.#step ??= openStep()
    this.#turn.onEvent({ type: 'step', step: this.#steps })
  }

  async #finishStep({ usage, finishReason }: Extract<Part, { type: 'finish-step' }>): Promise<void> {
    const { conversation, onEvent, stepwise } = this.#turn
    const turnSoFar = await this.finishedSteps.take()
    const { inputTokens = 0, outputTokens = 0 } = usage
    const stepUsage = { inputTokens, outputTokens, ms: performance.now() - this.#stepBeganAt }
    this.#usage = addUsage(this.#usage, stepUsage)
    if (this.#reason !== 'error') {
      // Servers refuse a conversation with an empty answer.
      const said = this.#hasContent ? turnSoFar : turnSoFar.filter((message) => !isEmpty(message))
      this.#messages = [...conversation.messages, ...said]
      this.#step = undefined
      if (finishReason === 'tool-calls') this.#reason = stepwise ? 'paused' : 'limit'
      else this.#reason = ends[finishReason] ?? (this.#hasContent ? 'finished' : 'empty')
      if (this.repetition.isFound) this.#reason = 'repeated'
    }
    this.#keep()
    onEvent({ type: 'usage', ...stepUsage, total: this.#usage })
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
    this.#step ??= openStep()
    this.#step.calls(id, tool, input)
    this.#turn.onEvent({ type: 'call', id, tool, input })
    this.#waiting.get(id)?.()
  }

  #keep(): void {
    this.#turn.keep({ messages: [...this.#messages, ...(this.#step?.messages() ?? [])], usage: this.#usage })
  }
}

function addUsage({ steps, inputTokens, outputTokens, ms }: Usage, step: Omit<Usage, 'steps'>): Usage {
  return {
    steps: steps + 1,
    inputTokens: inputTokens + step.inputTokens,
    outputTokens: outputTokens + step.outputTokens,
    ms: ms + step.ms,
  }
}
