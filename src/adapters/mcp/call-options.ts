import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { CallOptions } from '../../call/state/call.ts'
import { elicitApproval } from './elicit.ts'

/** The parts of a client's request that its calls need. */
export interface ClientRequest {
  readonly requestId: RequestId
  readonly signal: AbortSignal
}

/** Creates the options of a call for a client's request: its signal, and elicitation for approvals. `onAsked` is called when the client is asked. */
export type CallOptionsFactory = (request: ClientRequest, onAsked?: () => void) => CallOptions

/** Returns a factory for calls of the client of `server`. `timeoutMs` limits the time for the answer to an approval request. */
export function createCallOptions(server: Server, timeoutMs: number): CallOptionsFactory {
  return ({ requestId, signal }, onAsked = () => {}) => {
    const approve = elicitApproval(server, { requestId, signal, timeoutMs, onAsked })
    return { signal, ...(approve === undefined ? {} : { approve }) }
  }
}
