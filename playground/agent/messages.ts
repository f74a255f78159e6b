import type { AssistantModelMessage, ModelMessage, ToolModelMessage } from 'ai'

type ToolPart = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>

/** The result that the model sees for a call without a result. The call may have taken effect. */
const interrupted = {
  ok: false,
  code: 'ABORTED',
  message: 'The call was interrupted before its result was seen',
  hint: 'Check what it has done before you call it again.',
} as const

/** Adds a result to each call without one, since the interfaces of models require a result per call. */
export function everyCallAnswered(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const answered = new Set(
    messages.flatMap(({ role, content }) =>
      role === 'tool' ? content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])) : [],
    ),
  )
  const whole: ModelMessage[] = []
  for (const [at, message] of messages.entries()) {
    const open =
      message.role === 'assistant' ? callsOf(message).filter(({ toolCallId }) => !answered.has(toolCallId)) : []
    if (message.role === 'tool' && at > 0 && whole.at(-1)?.role === 'tool') {
      const before = whole.pop() as ToolModelMessage
      whole.push({ ...before, content: [...message.content, ...before.content] })
    } else whole.push(message)
    if (open.length > 0) {
      const content = open.map(({ toolCallId, toolName }) => resultPart(toolCallId, toolName, interrupted))
      whole.push({ role: 'tool', content })
    }
  }
  return whole
}

/** Returns the messages up to the last one of the person. */
export function withoutAnswer(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.slice(0, messages.findLastIndex(({ role }) => role === 'user') + 1)
}

/** The message part that shows a result to the model. */
export function resultPart(toolCallId: string, toolName: string, shown: object & { readonly ok: boolean }): ToolPart {
  const value = JSON.parse(JSON.stringify(shown))
  return { type: 'tool-result', toolCallId, toolName, output: { type: shown.ok ? 'json' : 'error-json', value } }
}

/** Returns the calls of an answer. */
export function callsOf({ content }: AssistantModelMessage) {
  return typeof content === 'string' ? [] : content.filter((part) => part.type === 'tool-call')
}
