import { AbstractChat, type ChatInit, type ChatState, type UIMessage } from 'ai'

/** What `useChat` has, without React. */
export class ChatInMemory<M extends UIMessage> extends AbstractChat<M> {
  constructor(init: ChatInit<M>) {
    const messages: M[] = []
    const state: ChatState<M> = {
      status: 'ready',
      error: undefined,
      messages,
      pushMessage(message) {
        this.messages = [...this.messages, message]
      },
      popMessage() {
        this.messages = this.messages.slice(0, -1)
      },
      replaceMessage(index, message) {
        this.messages = this.messages.with(index, structuredClone(message))
      },
      snapshot: structuredClone,
    }
    super({ ...init, state })
  }
}
