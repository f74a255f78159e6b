import type { ComponentChildren } from 'preact'
import { Icon } from '../../../src/elements/parts/icon.tsx'
import type { ProjectSession } from '../../session/project-session.ts'
import { UsageLine } from './usage-line.tsx'

export interface ComposerProps {
  readonly projectSession: Pick<ProjectSession, 'conversation' | 'texts' | 'writable'>
  /** The choice of the model. */
  readonly children: ComponentChildren
}

/** The field for messages, with the actions of the conversation. */
export function Composer({ projectSession, children }: ComposerProps) {
  const { conversation } = projectSession
  const text = projectSession.texts.of('message')
  const isScripted = conversation.pick.value.kind === 'scripted'
  const isWorking = conversation.isWorking.value
  const message = isScripted ? (conversation.prompt.value ?? '') : text.value
  const send = (stepwise: boolean) => {
    if (isWorking || message.trim() === '') return
    text.value = ''
    void conversation.send(message.trim(), stepwise)
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        send(false)
      }}
    >
      {children}
      <textarea
        class="field"
        id="composer"
        rows={3}
        aria-label="Message to the agent"
        placeholder="Ask the agent to do something in this project"
        value={message}
        readOnly={isScripted}
        disabled={!projectSession.writable.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault()
            send(false)
          }
        }}
      />
      <div class="row wrap">
        {isWorking ? (
          <button type="button" class="button danger" onClick={() => void conversation.stop()}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <SendButtons
            conversation={conversation}
            runLabel={isScripted ? 'Run' : 'Send'}
            isEmpty={message.trim() === ''}
            isWritable={projectSession.writable.value}
            onStep={() => send(true)}
          />
        )}
      </div>
      <UsageLine conversation={conversation} />
    </form>
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
      <button
        type="button"
        class="button quiet icon"
        aria-label="Retry the last message"
        title="Retry the last message"
        disabled={!conversation.items.value.some(({ kind }) => kind === 'person')}
        onClick={() => void conversation.retry()}
      >
        <Icon name="retry" />
      </button>
      <button
        type="button"
        class="button quiet"
        disabled={conversation.items.value.length === 0}
        onClick={() => conversation.clear()}
      >
        New
      </button>
    </>
  )
}
