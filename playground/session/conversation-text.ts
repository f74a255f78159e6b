import type { ConversationItem } from './conversation.ts'
import { labelOf } from './label.ts'
import { titleOf } from './turn-words.ts'

/** Writes a conversation as a document for people. */
export function conversationAsMarkdown(items: readonly ConversationItem[]): string {
  const parts: string[] = [`# ${titleOf(items)}`]
  let isList = false
  for (const item of items) {
    const text = itemAsMarkdown(item)
    if (text === undefined) continue
    // Calls that follow each other are one list.
    const isCall = item.kind === 'call'
    if (isCall && isList) parts.push(`${parts.pop()}\n${text}`)
    else parts.push(text)
    isList = isCall
  }
  return `${parts.join('\n\n')}\n`
}

function itemAsMarkdown(item: ConversationItem): string | undefined {
  switch (item.kind) {
    case 'person': {
      const names = item.attachments ?? []
      return `**You:** ${item.text}${names.length > 0 ? `\n\nAttached: ${names.join(', ')}` : ''}`
    }
    case 'text':
      return `**Agent:** ${item.text}`
    case 'call': {
      const outcome = item.ok === false ? ` – ${item.code ?? 'failed'}` : item.ok === undefined ? ' – not finished' : ''
      return `- \`${labelOf(item.tool, item.input)}\`${outcome}`
    }
    case 'error':
    case 'end':
      return `*${item.text}*`
    case 'reasoning':
    case 'compacted':
      return undefined
  }
}
