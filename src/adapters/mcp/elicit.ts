import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { ErrorCode, type Implementation, type RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { ApprovalAnswer, ApproveHandler } from '../../policy/approval.ts'
import { approvalText } from '../../policy/approval-text.ts'

/** How the client is asked. */
export interface ElicitOptions {
  /** The request that needs the approval. Over HTTP, the question is sent on its response stream. */
  readonly requestId: RequestId
  /** Cancels the question. */
  readonly signal: AbortSignal
  /** Milliseconds until the question expires. */
  readonly timeoutMs: number
  /** Called when the question is sent. */
  readonly onAsked: () => void
}

const answers = ['allow once', 'allow for this run', 'deny'] as const

/**
 * Returns a handler that asks the user of the client, or `undefined` if the client does not support elicitation. Declining or
 * dismissing the question denies the call. Without an answer, the call stays pending and can be resumed.
 */
export function elicitApproval(server: Server, options: ElicitOptions): ApproveHandler | undefined {
  if (server.getClientCapabilities()?.elicitation?.form === undefined) return undefined
  return async (request) => {
    const { name } = server.getClientVersion() as Implementation
    options.onAsked()
    try {
      const { action, content } = await server.elicitInput(
        {
          mode: 'form',
          message: approvalText(request),
          requestedSchema: {
            type: 'object',
            properties: {
              decision: { type: 'string', title: 'Decision', enum: [...answers] },
              reason: { type: 'string', title: 'Why not', description: 'Shown to the agent' },
            },
            required: ['decision'],
          },
        },
        { timeout: options.timeoutMs, relatedRequestId: options.requestId, signal: options.signal },
      )
      return { ...answerOf(action, content), by: `the person at ${name}` }
    } catch (error) {
      if (isInvalidAnswer(error)) throw error
      return 'later'
    }
  }
}

/** Returns whether the client sent an invalid answer. That is reported and not asked again. Other errors have other codes. */
function isInvalidAnswer(error: unknown): boolean {
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
