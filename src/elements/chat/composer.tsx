import { useEffect, useRef } from 'preact/hooks'
import type { MessageDraft } from '../../ui/message-draft.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { useSnapshot } from '../parts/use-snapshot.ts'
import type { ChatProperties } from '../properties.ts'
import { MessageField, PromptField } from './message-field.tsx'

export interface ComposerProps extends Pick<ChatProperties, 'controller' | 'prompt' | 'suggest'> {
  readonly draft: MessageDraft
  readonly disabled: boolean
}

/** The field for messages, with what can be done now. */
export function Composer({ controller, draft, prompt, disabled, suggest }: ComposerProps) {
  const { isWorking } = useSnapshot(controller)
  const { text, replaces, takesFiles } = useSnapshot(draft)
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    if (replaces !== undefined) field.current?.focus()
  }, [replaces])
  const isEmpty = (prompt ?? text).trim() === ''
  const send = () => {
    if (disabled) return
    if (prompt === undefined) draft.send()
    else if (!isWorking && !isEmpty) void controller.send(prompt.trim())
  }
  return (
    <form
      class="composer"
      part="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send()
      }}
    >
      {prompt === undefined && takesFiles ? (
        <div class="row">
          <div class="grow">
            <slot name="composer" />
          </div>
          <AttachButton draft={draft} />
        </div>
      ) : (
        <slot name="composer" />
      )}
      {replaces !== undefined && (
        <div class="row edit-note small" role="status">
          <span class="grow">This replaces an earlier message and what came after it. Changes to files stay.</span>
          <button type="button" class="button quiet" onClick={draft.cancelEdit}>
            Cancel
          </button>
        </div>
      )}
      {prompt === undefined ? (
        <MessageField field={field} draft={draft} isDisabled={disabled} suggest={suggest} onSend={send} />
      ) : (
        <PromptField text={prompt} onSend={send} />
      )}
      <Attachments draft={draft} />
      <div class="row wrap">
        {isWorking && (
          <button type="button" class="button danger" onClick={() => controller.stop()}>
            <Icon name="stop" /> Stop
          </button>
        )}
        {!isWorking ? (
          <button type="submit" class="button primary" disabled={isEmpty || disabled}>
            <Icon name="play" /> {prompt === undefined ? 'Send' : 'Run'}
          </button>
        ) : (
          prompt === undefined &&
          replaces === undefined && (
            <button type="submit" class="button" disabled={isEmpty || disabled}>
              Send afterwards
            </button>
          )
        )}
        <slot name="actions" />
      </div>
      <slot name="footer" />
    </form>
  )
}

function AttachButton({ draft }: { readonly draft: MessageDraft }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        id="attach-files"
        type="file"
        multiple
        hidden
        onChange={({ currentTarget }) => {
          void draft.attach([...(currentTarget.files ?? [])])
          currentTarget.value = ''
        }}
      />
      <IconButton
        icon="plus"
        label="Attach files"
        title="Attach texts, images or PDF documents"
        onClick={() => input.current?.click()}
      />
    </>
  )
}

function Attachments({ draft }: { readonly draft: MessageDraft }) {
  const { attachments, trouble } = useSnapshot(draft)
  return (
    <>
      {attachments.length > 0 && (
        <ul class="attachments row wrap" aria-label="Attached files">
          {attachments.map((attachment) => (
            <li key={attachment.name} class="tag">
              {attachment.kind === 'image' && <img src={attachment.data} alt="" />}
              <span class="cut">{attachment.name}</span>
              <IconButton icon="close" label={`Remove ${attachment.name}`} onClick={() => draft.detach(attachment)} />
            </li>
          ))}
        </ul>
      )}
      <div role="status" class={trouble === undefined ? 'visually-hidden' : 'notice warn'}>
        {trouble}
      </div>
    </>
  )
}
