import type { CallOptions } from '../../call/state/call.ts'
import type { ClientRequest } from './client-request.ts'
import { elicitApproval } from './elicit.ts'
import type { Rounds } from './rounds.ts'

/** Creates the options of a call for a client's request: its signal, and elicitation for approvals. `onAsked` is called when the client is asked. */
export type CallOptionsFactory = (request: ClientRequest, onAsked?: () => void) => CallOptions

/** How the requests of a client become calls. */
export interface RequestOptions {
  readonly rounds: Rounds
  readonly callOptions: CallOptionsFactory
}

/**
 * Returns a factory for the calls of a client. `timeoutMs` limits the time for the answer to an approval request, and `media` are
 * the images and documents that the client takes.
 */
export function createCallOptions(timeoutMs: number, media: NonNullable<CallOptions['media']>): CallOptionsFactory {
  return (request, onAsked = () => {}) => {
    const approve = elicitApproval(request, { timeoutMs, onAsked })
    return { signal: request.signal, media, ...(approve === undefined ? {} : { approve }) }
  }
}
