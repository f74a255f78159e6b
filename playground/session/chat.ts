import { computed, effect, untracked } from '@preact/signals'
import {
  type Conversation as ChatConversation,
  type ConversationItem as ChatItem,
  type ConversationSnapshot,
  createMessageDraft,
  type MessageDraft,
  readAttachment,
} from 'wardspace/ui'
import type { Conversation, ConversationItem } from './conversation.ts'
import { factsOf } from './model.ts'
import { draftsOf, type TypedTexts } from './typed-texts.ts'
import type { Session } from './types.ts'

/** A conversation as the chat shows it. */
export function chatOf(conversation: Conversation, { timeline }: Pick<Session, 'timeline'>): ChatConversation {
  const keys = computed(() => new Map(timeline.value.map(({ step, key }) => [step, key])))
  const state = computed<ConversationSnapshot>(() => ({
    items: itemsOf(conversation.items.value, keys.value),
    isWorking: conversation.isWorking.value,
    queue: conversation.queue.value,
  }))
  return {
    get snapshot() {
      return state.peek()
    },
    subscribe: (listener) =>
      effect(() => {
        const snapshot = state.value
        untracked(() => listener(snapshot))
      }),
    send: (text, attachments) => conversation.send(text, false, attachments),
    resend: (item, message) => conversation.resend(Number(item), message),
    unqueue(at) {
      conversation.queue.value = conversation.queue.value.filter((_, index) => index !== at)
    },
    sendNext: () => conversation.sendNext(),
    stop: () => void conversation.stop(),
  }
}

/** The message that the person writes. Its text is kept over a reload. */
export function draftOf(chat: ChatConversation, { pick }: Conversation, texts: TypedTexts): MessageDraft {
  return createMessageDraft(chat, {
    drafts: draftsOf(texts),
    attach(file) {
      const { value: model } = pick
      if (model.kind !== 'endpoint') return readAttachment(file)
      const { takesImages, takesDocuments } = factsOf(model)
      return readAttachment(file, { images: takesImages, documents: takesDocuments })
    },
  })
}

const COMPACTED =
  'The context was nearly full: from here on, the agent has addresses instead of long earlier results, and can read them again.'

/** Returns the items as the chat shows them. An item is identified by its position. */
function itemsOf(
  items: readonly ConversationItem[],
  keys: ReadonlyMap<string | undefined, string>,
): readonly ChatItem[] {
  return items.map((item, at): ChatItem => {
    const id = String(at)
    switch (item.kind) {
      case 'person':
        return { ...item, id }
      case 'text':
        return { kind: 'agent', id, text: item.text }
      case 'call':
        return { ...item, id, entry: keys.get(item.id) ?? '' }
      case 'end':
        return { kind: 'note', id, text: item.text }
      case 'compacted':
        return { kind: 'note', id, text: COMPACTED }
      default:
        return { kind: item.kind, id, text: item.text }
    }
  })
}
