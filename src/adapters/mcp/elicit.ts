import type { ApprovalAnswer, ApproveHandler } from '../../policy/approval.ts'
import { approvalText } from '../../policy/approval-text.ts'
import { type ClientRequest, InvalidAnswer, type QuestionAnswer, type QuestionForm } from './client-request.ts'

/** How the client is asked. */
export interface ElicitOptions {
  /** Milliseconds until the question expires. */
  readonly timeoutMs: number
  /** Called when the question is sent. */
  readonly onAsked: () => void
}

const answers = ['allow once', 'allow for this run', 'deny'] as const

const form: Omit<QuestionForm, 'message'> = {
  requestedSchema: {
    type: 'object',
    properties: {
      decision: { type: 'string', title: 'Decision', enum: [...answers] },
      reason: { type: 'string', title: 'Why not', description: 'Shown to the agent' },
    },
    required: ['decision'],
  },
}

/**
 * Returns a handler that asks the user of the client, or `undefined` if the client does not support elicitation. Declining or
 * dismissing the question denies the call. Without an answer, the call stays pending and can be resumed.
 */
export function elicitApproval(client: ClientRequest, options: ElicitOptions): ApproveHandler | undefined {
  if (!client.hasForms) return undefined
  const { timeoutMs, onAsked } = options
  return async (request) => {
    onAsked()
    try {
      const answer = await client.ask({ message: approvalText(request), ...form }, { timeoutMs, signal: client.signal })
      return { ...answerOf(answer), by: `the person at ${client.client}` }
    } catch (error) {
      // An invalid answer is reported and not asked again.
      if (error instanceof InvalidAnswer) throw error
      return 'later'
    }
  }
}

function answerOf({ action, content }: QuestionAnswer): Exclude<ApprovalAnswer, string> {
  if (action === 'cancel') return { deny: 'the question was dismissed' }
  if (action === 'accept' && content?.decision === 'allow once') return { allow: 'once' }
  if (action === 'accept' && content?.decision === 'allow for this run') return { allow: 'run' }
  const reason = typeof content?.reason === 'string' && content.reason.trim() !== '' ? content.reason : undefined
  return { deny: reason?.slice(0, 2000) ?? 'declined by the person at the client' }
}
