import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { ApprovalAnswer, ApproveHandler } from '../policy/approval.ts'
import { approvalText } from '../policy/approval-text.ts'

/** A person may take a while; the protocol's own limit is a minute. */
const TIMEOUT_MS = 30 * 60_000

const answers = ['allow once', 'allow for this run', 'deny'] as const

/**
 * Asks the person at the client, where the client has elicitation; `undefined` where it has not. Whoever declines or
 * dismisses the question has not allowed anything.
 */
export function elicitApproval(server: Server): ApproveHandler | undefined {
  if (server.getClientCapabilities()?.elicitation === undefined) return undefined
  return async (request, { signal }) => {
    const by = server.getClientVersion()?.name ?? 'MCP client'
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
      { timeout: TIMEOUT_MS, ...(signal === undefined ? {} : { signal }) },
    )
    return { ...answerOf(action, content), by: `the person at ${by}` }
  }
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
