import { type ReadonlySignal, signal } from '@preact/signals'
import type { ApprovalAnswer, ApproveHandler } from 'wardspace'
import type { PendingApproval } from './types.ts'

/** The approvals that wait for the person's answer. */
export interface ApprovalQueue {
  readonly pending: ReadonlySignal<readonly PendingApproval[]>
  /** Returns the approve handler for the call of one timeline entry. */
  asker(entry: string, waiting: (waits: boolean) => void): ApproveHandler
}

export function createApprovalQueue(now: () => number): ApprovalQueue {
  const pending = signal<readonly PendingApproval[]>([])
  return {
    pending,
    asker: (entry, waiting) => (request, options) =>
      new Promise<ApprovalAnswer>((resolve) => {
        const answer = (approval: ApprovalAnswer) => {
          pending.value = pending.value.filter((entry) => entry !== question)
          waiting(false)
          resolve(approval)
        }
        const question: PendingApproval = { request, entry, since: now(), answer }
        // An aborted call no longer needs an answer.
        options.signal?.addEventListener('abort', () => answer({ deny: 'The call was stopped' }), { once: true })
        waiting(true)
        pending.value = [...pending.value, question]
      }),
  }
}
