import { type ReadonlySignal, signal } from '@preact/signals'
import type { ApprovalAnswer, ApproveHandler } from 'wardspace'
import type { PendingApproval } from './types.ts'

/** The questions that wait for the person. */
export interface ApprovalQueue {
  readonly pending: ReadonlySignal<readonly PendingApproval[]>
  /** What asks for the call of one timeline entry. */
  asker(entry: string, waiting: (waits: boolean) => void): ApproveHandler
}

export function createApprovalQueue(now: () => number): ApprovalQueue {
  const pending = signal<readonly PendingApproval[]>([])
  return {
    pending,
    asker: (entry, waiting) => (request, options) =>
      new Promise<ApprovalAnswer>((resolve) => {
        const answer = (given: ApprovalAnswer) => {
          pending.value = pending.value.filter((one) => one !== question)
          waiting(false)
          resolve(given)
        }
        const question: PendingApproval = { request, entry, since: now(), answer }
        // Whoever gave the call up no longer needs the answer.
        options.signal?.addEventListener('abort', () => answer({ deny: 'The call was stopped' }), { once: true })
        waiting(true)
        pending.value = [...pending.value, question]
      }),
  }
}
