import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import { IconButton } from '../../../src/elements/parts/icon-button.tsx'
import type { MessageDraft } from '../../session/message-draft.ts'
import type { ProjectSession } from '../../session/project-session.ts'
import { MessageField } from './message-field.tsx'
import { UsageLine } from './usage-line.tsx'

export interface ComposerProps {
  readonly projectSession: Pick<ProjectSession, 'conversation' | 'writable' | 'project' | 'files'>
  readonly draft: MessageDraft
  /** The choice of the model. */
  readonly children: ComponentChildren
}

/** The field for messages, with the actions of the conversation. */
export function Composer({ projectSession, draft, children }: ComposerProps) {
  const { conversation, project, files } = projectSession
  const isScripted = conversation.pick.value.kind === 'scripted'
  const isWorking = conversation.isWorking.value
  const isWritable = projectSession.writable.value
  const message = isScripted ? (conversation.prompt.value ?? '') : draft.text.value
  const isEmpty = message.trim() === ''
  const send = (stepwise: boolean) => {
    if (!isScripted) draft.send(stepwise)
    else if (!isWorking && !isEmpty) void conversation.send(message.trim(), stepwise)
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send(false)
      }}
    >
      <div class="row">
        <div class="grow">{children}</div>
        {!isScripted && <AttachButton draft={draft} />}
      </div>
      {draft.edited.value !== undefined && <EditNote draft={draft} />}
      {isScripted ? (
        <textarea
          class="field"
          id="composer"
          rows={3}
          aria-label="Message to the agent"
          value={message}
          readOnly
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey) return
            event.preventDefault()
            send(false)
          }}
        />
      ) : (
        <MessageField
          project={project}
          text={draft.text}
          isDisabled={!isWritable}
          recent={() => files.all.peek().map(({ path }) => path)}
          onSend={() => send(false)}
          onFiles={(dropped) => void draft.attach(dropped)}
          onEscape={draft.cancelEdit}
        />
      )}
      <Attachments draft={draft} />
      <div class="row wrap">
        {isWorking ? (
          <>
            <button type="button" class="button danger" onClick={() => void conversation.stop()}>
              <Icon name="stop" /> Stop
            </button>
            {!isScripted && draft.edited.value === undefined && (
              <button type="submit" class="button" disabled={isEmpty || !isWritable}>
                Send afterwards
              </button>
            )}
          </>
        ) : (
          <SendButtons
            conversation={conversation}
            runLabel={isScripted ? 'Run' : 'Send'}
            isEmpty={isEmpty}
            isWritable={isWritable}
            onStep={() => send(true)}
          />
        )}
      </div>
      <UsageLine conversation={conversation} />
    </form>
  )
}

function EditNote({ draft }: { readonly draft: MessageDraft }) {
  return (
    <div class="row edit-note small" role="status">
      <span class="grow">This replaces an earlier message and what came after it. Changes to files stay.</span>
      <button type="button" class="button quiet" onClick={draft.cancelEdit}>
        Cancel
      </button>
    </div>
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
        label="Attach files or images"
        title="Attach files or images"
        onClick={() => input.current?.click()}
      />
    </>
  )
}

function Attachments({ draft }: { readonly draft: MessageDraft }) {
  const { attachments, trouble } = draft
  return (
    <>
      {attachments.value.length > 0 && (
        <ul class="attachments row wrap" aria-label="Attached files">
          {attachments.value.map((attachment) => (
            <li key={attachment.name} class="tag">
              {attachment.kind === 'image' && <img src={attachment.data} alt="" />}
              <span class="cut">{attachment.name}</span>
              <IconButton
                icon="close"
                label={`Remove ${attachment.name}`}
                onClick={() => {
                  attachments.value = attachments.value.filter((one) => one !== attachment)
                }}
              />
            </li>
          ))}
        </ul>
      )}
      <div role="status" class={trouble.value === undefined ? '' : 'notice warn'}>
        {trouble.value}
      </div>
    </>
  )
}

/** The actions that are available while the agent is idle. */
function SendButtons({
  conversation,
  runLabel,
  isEmpty,
  isWritable,
  onStep,
}: {
  readonly conversation: ProjectSession['conversation']
  readonly runLabel: string
  readonly isEmpty: boolean
  readonly isWritable: boolean
  readonly onStep: () => void
}) {
  return (
    <>
      <button type="submit" class="button primary" disabled={isEmpty || !isWritable}>
        <Icon name="play" /> {runLabel}
      </button>
      {conversation.canContinue.value ? (
        <>
          <button type="button" class="button" onClick={() => void conversation.next()}>
            <Icon name="step" /> Next step
          </button>
          <button type="button" class="button" onClick={() => void conversation.resume()}>
            Go on
          </button>
        </>
      ) : (
        <button type="button" class="button quiet" disabled={isEmpty} onClick={onStep}>
          <Icon name="step" /> Step by step
        </button>
      )}
      {conversation.items.value.some(({ kind }) => kind === 'person') && (
        <button type="button" class="button quiet" onClick={() => void conversation.retry()}>
          <Icon name="retry" /> Try again
        </button>
      )}
    </>
  )
}
