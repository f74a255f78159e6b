import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { type Attachment, readAttachment } from './attachments.ts'
import type { Conversation } from './conversation.ts'
import { factsOf } from './model.ts'
import type { TypedTexts } from './typed-texts.ts'

/** The message that the person is writing. */
export interface MessageDraft {
  readonly text: Signal<string>
  readonly attachments: Signal<readonly Attachment[]>
  /** The item of the message that is edited, or undefined for a new one. */
  readonly edited: ReadonlySignal<number | undefined>
  /** Why a file could not be attached. */
  readonly trouble: ReadonlySignal<string | undefined>
  attach(files: readonly File[]): Promise<void>
  /** Begins to edit an earlier message. What was written before comes back at the end. */
  edit(item: number): void
  cancelEdit(): void
  send(stepwise: boolean): void
}

export function createMessageDraft(conversation: Conversation, texts: TypedTexts): MessageDraft {
  const text = texts.of('message')
  const attachments = signal<readonly Attachment[]>([])
  const edited = signal<number | undefined>(undefined)
  const trouble = signal<string | undefined>(undefined)
  let before = ''

  function endEdit(): void {
    if (edited.value === undefined) return
    edited.value = undefined
    text.value = before
  }

  return {
    text,
    attachments,
    edited,
    trouble,
    async attach(files) {
      const pick = conversation.pick.peek()
      const takesImages = pick.kind === 'endpoint' && factsOf(pick).takesImages
      trouble.value = undefined
      for (const file of files) {
        try {
          const attachment = await readAttachment(file, takesImages)
          attachments.value = [...attachments.value, attachment]
        } catch (error) {
          trouble.value = error instanceof Error ? error.message : String(error)
        }
      }
    },
    edit(item) {
      const message = conversation.items.peek()[item]
      if (message?.kind !== 'person') return
      if (edited.value === undefined) before = text.value
      text.value = message.text
      edited.value = item
    },
    cancelEdit: endEdit,
    send(stepwise) {
      const message = { text: text.value.trim(), attachments: attachments.value }
      const item = edited.value
      if (message.text === '' || (item !== undefined && conversation.isWorking.peek())) return
      text.value = ''
      attachments.value = []
      trouble.value = undefined
      endEdit()
      if (item !== undefined) void conversation.resend(item, message)
      else void conversation.send(message.text, stepwise, message.attachments)
    },
  }
}
