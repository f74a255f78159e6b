import type { LanguageModel, ModelMessage } from 'ai'
import type { CallableTools } from 'wardspace/ai-sdk'
import { describeError } from './describe-error.ts'
import { followCalls } from './follow-calls.ts'
import { type OpenStep, openStep } from './open-step.ts'
import { createQueue } from './queue.ts'
import { systemPrompt } from './system-prompt.ts'
import type { AgentEvent, Conversation, DoneReason, Usage } from './types.ts'

export interface Turn {
  readonly model: LanguageModel
  readonly tools: CallableTools
  /** Ends with what is to be answered. */
  readonly conversation: Conversation
  readonly keep: (next: Partial<Conversation>) => void
  readonly onEvent: (event: AgentEvent) => void
  readonly signal: AbortSignal
  readonly stepwise: boolean
  readonly maxSteps: number
}

/** One turn: the SDK asks the model, carries out its calls, and asks again, until it calls nothing more. */
export async function playTurn({ conversation, keep, onEvent, signal, ...turn }: Turn): Promise<DoneReason> {
  const [{ streamText, stepCountIs }, { aiSdkTools }] = await Promise.all([import('ai'), import('wardspace/ai-sdk')])
  signal.throwIfAborted()
  // Its warnings are for programmers, and would stand in the console of the page.
  globalThis.AI_SDK_LOG_WARNINGS = false
  let { messages, usage } = conversation
  let step: OpenStep | undefined
  /** Of each step that has finished, the messages of the turn so far. */
  const finished = createQueue<readonly ModelMessage[]>()
  const announced = new Set<string>()
  const waiting = new Map<string, () => void>()
  const announce = (id: string, tool: string, input: unknown): void => {
    if (announced.has(id)) return
    announced.add(id)
    step ??= openStep()
    step.calls(id, tool, input)
    onEvent({ type: 'call', id, tool, input })
    waiting.get(id)?.()
  }
  const keepOpen = () => keep({ messages: [...messages, ...(step?.messages() ?? [])], usage })
  const tools = followCalls(turn.tools, {
    // The SDK is ahead of its own stream: a call waits until the words before it were heard.
    begins: async (id, tool, input) => {
      if (!announced.has(id)) await new Promise<void>((resolve) => waiting.set(id, resolve))
      announce(id, tool, input)
      keepOpen()
    },
    ended: (call) => {
      step?.ended(call.id, call.tool, call.seen)
      onEvent({ type: 'result', ...call })
      keepOpen()
    },
  })
  const before = messages
  let begun = performance.now()
  let reason: DoneReason = 'finished'
  const { fullStream } = streamText({
    model: turn.model,
    system: systemPrompt,
    messages: [...messages],
    tools: aiSdkTools(tools, { results: 'json' }),
    stopWhen: [stepCountIs(turn.maxSteps), () => turn.stepwise],
    abortSignal: signal,
    // Once more at most: a person is there who can say so.
    maxRetries: 1,
    experimental_include: { requestBody: false },
    // It comes along in the stream.
    onError: () => {},
    onStepFinish: ({ response }) => finished.put(response.messages),
  })
  let steps = 0
  for await (const part of fullStream) {
    if (part.type === 'start-step') {
      steps += 1
      begun = performance.now()
      step ??= openStep()
      onEvent({ type: 'step', step: steps })
    } else if (part.type === 'text-delta') {
      step?.says(part.text)
      onEvent({ type: 'text', delta: part.text })
    } else if (part.type === 'reasoning-delta') {
      onEvent({ type: 'reasoning', delta: part.text })
    } else if (part.type === 'tool-call') {
      announce(part.toolCallId, part.toolName, part.input)
    } else if (part.type === 'tool-error') {
      // The model named a tool that is not there, or gave it no JSON.
      const shown = { type: 'error-text', value: describeError(part.error).message }
      onEvent({ type: 'result', id: part.toolCallId, tool: part.toolName, ok: false, seen: shown, ms: 0 })
    } else if (part.type === 'finish-step') {
      const turnSoFar = await finished.take()
      if (reason !== 'error') {
        messages = [...before, ...turnSoFar]
        step = undefined
      }
      const { inputTokens = 0, outputTokens = 0 } = part.usage
      const last = { inputTokens, outputTokens, ms: performance.now() - begun }
      usage = added(usage, last)
      keepOpen()
      onEvent({ type: 'usage', ...last, total: usage })
      if (reason !== 'error')
        reason = part.finishReason === 'tool-calls' ? (turn.stepwise ? 'paused' : 'limit') : 'finished'
    } else if (part.type === 'abort') {
      reason = 'stopped'
    } else if (part.type === 'error') {
      reason = 'error'
      onEvent({ type: 'error', ...describeError(part.error) })
    }
  }
  for (const goOn of waiting.values()) goOn()
  await tools.settled()
  if (step !== undefined) keepOpen()
  return signal.aborted ? 'stopped' : reason
}

function added({ steps, inputTokens, outputTokens, ms }: Usage, step: Omit<Usage, 'steps'>): Usage {
  return {
    steps: steps + 1,
    inputTokens: inputTokens + step.inputTokens,
    outputTokens: outputTokens + step.outputTokens,
    ms: ms + step.ms,
  }
}
