import type { ConversationItem } from './conversation.ts'

/** Returns what the agent said last, which is before the call that waits. */
export function lastSaying(items: readonly ConversationItem[]): string | undefined {
  for (const item of items.toReversed()) {
    if (item.kind === 'person') return undefined
    if (item.kind === 'text') return item.text
  }
  return undefined
}
