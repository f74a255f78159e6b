import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { ErrorCode, type Implementation, type RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { ApprovalAnswer, ApproveHandler } from '../../policy/approval.ts'
import { approvalText } from '../../policy/approval-text.ts'

export interface ElicitOptions {
  /** The request that the question belongs to: over HTTP it takes the same way back. */
  readonly requestId: RequestId
  /** Cancels the question with it. */
  readonly signal: AbortSignal
  /** Milliseconds that the person may take. */
  readonly timeoutMs: number
  /** Told when the question is out. */
  readonly waits: () => void
}

const answers = ['allow once', 'allow for this run', 'deny'] as const

/**
 * Asks the person at the client, where the client has elicitation; `undefined` where it has not. Whoever declines or
 * dismisses the question has not allowed anything. Where no answer comes, or the client cannot ask after all, the call waits
 * to be resumed.
 */
export function elicitApproval(server: Server, options: ElicitOptions): ApproveHandler | undefined {
  if (server.getClientCapabilities()?.elicitation?.form === undefined) return undefined
  return async (request) => {
    const { name } = server.getClientVersion() as Implementation
    options.waits()
    try {
      const { action, content } = await server.elicitInput(
        {
          mode: 'form',
          message: approvalText(request),
          requestedSchema: {
            type: 'object',
            properties: {
              decision: { type: 'string', title: 'Decision', enum: [...answers] },
              reason: { type: 'string', title: 'Why not', description: 'The agent is told this' },
            },
            required: ['decision'],
          },
        },
        { timeout: options.timeoutMs, relatedRequestId: options.requestId, signal: options.signal },
      )
      return { ...answerOf(action, content), by: `the person at ${name}` }
    } catch (error) {
      if (isGarbage(error)) throw error
      return 'later'
    }
  }
}

/** Somebody answered, with something that is no answer: that is told, not asked again. Other faults come with their codes. */
function isGarbage(error: unknown): boolean {
  const { code } = error as { readonly code?: unknown }
  return code === undefined || code === ErrorCode.InvalidParams
}

function answerOf(
  action: 'accept' | 'decline' | 'cancel',
  content: Readonly<Record<string, unknown>> | undefined,
): Exclude<ApprovalAnswer, string> {
  if (action === 'cancel') return { deny: 'the question was dismissed' }
  if (action === 'accept' && content?.decision === 'allow once') return { allow: 'once' }
  if (action === 'accept' && content?.decision === 'allow for this run') return { allow: 'run' }
  const reason = typeof content?.reason === 'string' && content.reason.trim() !== '' ? content.reason : undefined
  return { deny: reason?.slice(0, 2000) ?? 'declined by the person at the client' }
}
