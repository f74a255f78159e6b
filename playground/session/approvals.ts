import { type ReadonlySignal, signal } from '@preact/signals'
import type { ApprovalAnswer, ApprovalRequest, ApproveHandler } from 'wardspace'
import type { ConversationItem } from './conversation.ts'
import type { Actor, PendingApproval } from './types.ts'

/** Returns what the agent said last, which is before the call that waits. */
export function lastSaying(items: readonly ConversationItem[]): string | undefined {
  for (const item of items.toReversed()) {
    if (item.kind === 'person') return undefined
    if (item.kind === 'text') return item.text
  }
  return undefined
}

/** An answer to later requests of the same task that are like one that the person approved. */
export interface ApprovalPattern {
  readonly actor: Actor
  readonly tool: string
  /** The paths, as the person confirmed them. */
  readonly paths: string
  covers(request: ApprovalRequest): boolean
}

/** The approvals that wait for the person's answer. */
export interface ApprovalQueue {
  readonly pending: ReadonlySignal<readonly PendingApproval[]>
  readonly patterns: ReadonlySignal<readonly ApprovalPattern[]>
  /** Approves what waits and is covered, and what is asked later in this task. */
  addPattern(pattern: ApprovalPattern): void
  /** Ends patterns: one of them, or all with the task or the policy. */
  endPatterns(pattern?: ApprovalPattern): void
  /** Returns the approve handler for the call of one timeline entry. */
  asker(entry: string, actor: Actor, waiting: (waits: boolean) => void): ApproveHandler
}

export function createApprovalQueue(now: () => number): ApprovalQueue {
  const pending = signal<readonly PendingApproval[]>([])
  const patterns = signal<readonly ApprovalPattern[]>([])
  const approved = ({ paths }: ApprovalPattern): ApprovalAnswer => ({ allow: 'once', by: `person, for ${paths}` })
  return {
    pending,
    patterns,
    addPattern(pattern) {
      patterns.value = [...patterns.value, pattern]
      for (const question of pending.value) {
        if (question.actor === pattern.actor && pattern.covers(question.request)) question.answer(approved(pattern))
      }
    },
    endPatterns(pattern) {
      patterns.value = pattern === undefined ? [] : patterns.value.filter((one) => one !== pattern)
    },
    asker: (entry, actor, waiting) => (request, options) =>
      new Promise<ApprovalAnswer>((resolve) => {
        const pattern = patterns.value.find((one) => one.actor === actor && one.covers(request))
        if (pattern !== undefined) return resolve(approved(pattern))
        const answer = (approval: ApprovalAnswer) => {
          pending.value = pending.value.filter((entry) => entry !== question)
          waiting(false)
          resolve(approval)
        }
        const question: PendingApproval = { request, entry, actor, since: now(), answer }
        // An aborted call no longer needs an answer.
        options.signal?.addEventListener('abort', () => answer({ deny: 'The call was stopped' }), { once: true })
        waiting(true)
        pending.value = [...pending.value, question]
      }),
  }
}
