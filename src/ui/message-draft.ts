import {
  checkArgument,
  checkOptions,
  isFunction,
  isObjectWith,
  type OptionTable,
  refuseSurplus,
} from '../util/check-options.ts'
import type { Attachment } from './attachments.ts'
import { type Controller, ControllerState } from './controller.ts'
import type { Conversation, Message } from './conversation.ts'

/** Keeps texts that a person has typed and not sent, for example over a reload. */
export interface Drafts {
  /** Returns the text of a field; empty if nothing was typed. */
  get(field: string): string
  /** Keeps the text of a field. */
  set(field: string, text: string): void
}

/** The state of a {@link MessageDraft}. */
export interface MessageDraftSnapshot extends Message {
  readonly attachments: readonly Attachment[]
  /** Whether files can go with the message. */
  readonly takesFiles: boolean
  /** The id of the earlier message that this one replaces. */
  readonly replaces: string | undefined
  /** Why a file could not be attached. */
  readonly trouble: string | undefined
}

/** The message that a person writes. */
export interface MessageDraft extends Controller<MessageDraftSnapshot> {
  /** Changes the text. */
  write(text: string): void
  /** Adds files. `trouble` says which one cannot be read. */
  attach(files: readonly File[]): Promise<void>
  /** Removes a file. */
  detach(attachment: Attachment): void
  /** Begins to change an earlier message, given by the id of its item. What was written before comes back at the end. */
  edit(item: string): void
  /** Leaves the earlier message as it is. The next `edit` of it goes on with what was written. */
  cancelEdit(): void
  /** Takes a message out of the queue, by its position, to write on in it. What was written stays below it. */
  takeBack(at: number): void
  /** Returns the message and begins an empty one, or returns undefined if it has no text. */
  take(): Message | undefined
  /** Sends the message. One that replaces an earlier message is not sent while the agent works. */
  send(): void
}

/** Options of {@link createMessageDraft}. */
export interface MessageDraftOptions {
  /** Reads a file that goes with the message, as `readAttachment` does. Without it, messages have no files. */
  readonly attach?: (file: File) => Promise<Attachment>
  /** Keeps the text, under the name `message`. */
  readonly drafts?: Drafts | undefined
}

/** The name of the text among the drafts. */
const FIELD = 'message'

const optionTable: OptionTable<MessageDraftOptions> = { attach: isFunction, drafts: isObjectWith('drafts', 'get') }

/**
 * Creates the message that a person writes in a conversation. The chat has one of its own; a page that has more for it creates it.
 *
 * @example
 * const conversation = createConversation({ respond: async ({ attachments }) => console.log(attachments.length) })
 * const draft = createMessageDraft(conversation, { attach: readAttachment })
 * draft.write('Summarise it')
 * await draft.attach([new File(['A long report'], 'report.txt', { type: 'text/plain' })])
 * draft.send() // prints 1
 */
export function createMessageDraft(conversation: Conversation, options: MessageDraftOptions = {}): MessageDraft {
  refuseSurplus('createMessageDraft()', 2, arguments)
  checkArgument('createMessageDraft()', 'conversation', conversation, isObjectWith('a conversation', 'send'))
  const { attach, drafts } = checkOptions('createMessageDraft()', options, optionTable)
  const state = new ControllerState<MessageDraftSnapshot>({
    ...{ text: drafts?.get(FIELD) ?? '', attachments: [], takesFiles: attach !== undefined },
    ...{ replaces: undefined, trouble: undefined },
  })
  /** What is written by the id of the message that it replaces, and under '' the new message. */
  const texts = new Map([['', state.snapshot.text]])

  function write(text: string): void {
    texts.set(state.snapshot.replaces ?? '', text)
    drafts?.set(FIELD, text)
    state.update({ text })
  }

  function cancelEdit(): void {
    if (state.snapshot.replaces === undefined) return
    state.update({ replaces: undefined })
    write(texts.get('') ?? '')
  }

  function take(): Message | undefined {
    const { text, attachments } = state.snapshot
    if (text.trim() === '') return undefined
    state.update({ attachments: [], trouble: undefined })
    write('')
    cancelEdit()
    return { text: text.trim(), attachments }
  }

  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    write,
    async attach(files) {
      state.update({ trouble: undefined })
      for (const file of files) {
        try {
          const attachment = await attach?.(file)
          if (attachment !== undefined) state.update({ attachments: [...state.snapshot.attachments, attachment] })
        } catch (error) {
          state.update({ trouble: error instanceof Error ? error.message : String(error) })
        }
      }
    },
    detach(attachment) {
      state.update({ attachments: state.snapshot.attachments.filter((one) => one !== attachment) })
    },
    edit(item) {
      const message = conversation.snapshot.items.find(({ id }) => id === item)
      if (message?.kind !== 'person') return
      state.update({ replaces: item })
      write(texts.get(item) || message.text)
    },
    cancelEdit,
    takeBack(at) {
      const message = conversation.snapshot.queue[at]
      if (message === undefined) return
      conversation.unqueue(at)
      const { text, attachments } = state.snapshot
      state.update({ attachments: [...(message.attachments ?? []), ...attachments] })
      write(text === '' ? message.text : `${message.text}\n\n${text}`)
    },
    take,
    send() {
      const { replaces } = state.snapshot
      if (replaces !== undefined && conversation.snapshot.isWorking) return
      const message = take()
      if (message === undefined) return
      if (replaces !== undefined) void conversation.resend(replaces, message)
      else void conversation.send(message.text, message.attachments)
    },
  }
}
