import type { AssistantModelMessage, ModelMessage, ToolModelMessage } from 'ai'
import { everyCallAnswered, resultPart } from './messages.ts'

/** A step in progress, and its messages in case it is interrupted. */
export interface OpenStep {
  says(text: string): void
  calls(id: string, tool: string, input: unknown): void
  ended(id: string, tool: string, shown: object & { readonly ok: boolean }): void
  /** Empty until the step calls a tool, since the step can be repeated before that. */
  messages(): readonly ModelMessage[]
}

/** Collects a step, so that a call that took effect is never missing from the conversation. */
export function openStep(): OpenStep {
  let words = ''
  const calls: Exclude<AssistantModelMessage['content'], string> = []
  const results: ToolModelMessage['content'] = []
  return {
    says(text) {
      words += text
    },
    calls(toolCallId, toolName, input) {
      // Servers refuse the text of an input that is not JSON.
      calls.push({ type: 'tool-call', toolCallId, toolName, input: typeof input === 'object' ? input : {} })
    },
    ended(id, tool, shown) {
      results.push(resultPart(id, tool, shown))
    },
    messages() {
      if (calls.length === 0) return []
      const said = words === '' ? [] : [{ type: 'text' as const, text: words }]
      const answers: ModelMessage[] = results.length === 0 ? [] : [{ role: 'tool', content: [...results] }]
      return everyCallAnswered([{ role: 'assistant', content: [...said, ...calls] }, ...answers])
    },
  }
}
