import { useChat } from '@ai-sdk/react'
import { getToolName, isToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses } from 'ai'
import { useState } from 'react'
import type { ChatMessage } from '../server/chat.ts'

type ToolPart = Extract<ChatMessage['parts'][number], { toolCallId: string }>
type Answer = (options: { id: string; approved: boolean }) => unknown

/** What the page says of a call that needs no answer now. */
const states: Readonly<Record<string, string>> = {
  'approval-responded': 'answered',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'denied',
}

/** A call of the agent. One that waits shows its change, and the buttons that answer it. */
function Call({ part, message, answer }: { part: ToolPart; message: ChatMessage; answer: Answer }) {
  const name = getToolName(part)
  if (part.state !== 'approval-requested') return <p>{`${name}: ${states[part.state] ?? 'running'}`}</p>
  const { id } = part.approval
  const change = message.parts.find((other) => other.type === 'data-change' && other.data.callId === part.toolCallId)
  return (
    <article aria-label={`Approval of ${name}`}>
      <p>{`The agent wants to use ${name}.`}</p>
      <pre>{change?.type === 'data-change' ? change.data.diff : JSON.stringify(part.input)}</pre>
      <button type="button" onClick={() => answer({ id, approved: true })}>
        Approve
      </button>{' '}
      <button type="button" onClick={() => answer({ id, approved: false })}>
        Deny
      </button>
    </article>
  )
}

export function App() {
  const [text, setText] = useState('')
  const { messages, sendMessage, status, error, addToolApprovalResponse } = useChat<ChatMessage>({
    // Goes on when every call that waits has its answer.
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
  })
  return (
    <main>
      {messages.map((message) => (
        <section key={message.id} aria-label={message.role}>
          {message.parts.map((part) => {
            if (part.type === 'text') return <p key={part.text}>{part.text}</p>
            if (!isToolUIPart(part)) return null
            return <Call key={part.toolCallId} part={part} message={message} answer={addToolApprovalResponse} />
          })}
        </section>
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void sendMessage({ text })
          setText('')
        }}
      >
        <input aria-label="Message" value={text} onChange={(event) => setText(event.target.value)} />
        <button type="submit" disabled={status !== 'ready' || text === ''}>
          Send
        </button>
      </form>
    </main>
  )
}
