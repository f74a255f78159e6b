import type { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { CallOptions } from '../../call/state/call.ts'
import { elicitApproval } from './elicit.ts'

/** A request of the client, as far as the calls that come of it need to know. */
export interface Requested {
  readonly requestId: RequestId
  readonly signal: AbortSignal
}

/** Makes the options of a call that a request of the client leads to: it can be cancelled, and policy may ask the person. */
export type Asking = (request: Requested, waits?: () => void) => CallOptions

/** Asks at the client of `server`. `timeoutMs`: how long the person may take. */
export function createCallOptions(server: Server, timeoutMs: number): Asking {
  return ({ requestId, signal }, waits = () => {}) => {
    const approve = elicitApproval(server, { requestId, signal, timeoutMs, waits })
    return { signal, ...(approve === undefined ? {} : { approve }) }
  }
}
