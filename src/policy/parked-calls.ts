import type { Version } from '../storage/backend.ts'
import type { ApprovalRequest } from './approval.ts'

/**
 * A call that waits for an approval: plain data, which can be kept as JSON and resumed in another process. It holds the
 * call's input as the model gave it: keep it where the files themselves could be kept.
 */
export interface ParkedCall {
  /** The `approvalId` of its `APPROVAL_REQUIRED`. */
  readonly id: string
  readonly runId: string
  readonly actor: string
  readonly tool: string
  readonly input: unknown
  /** Milliseconds since 1970. */
  readonly at: number
  /** When the call began that waits: what it makes of the time is the same when it is resumed. */
  readonly began?: number
  /** From then on no answer counts. */
  readonly expiresAt: number
  /** What whoever approves is shown: the verdict with its rules, the accesses, the preview. */
  readonly request: ApprovalRequest
  /** What the approval is about: it covers this effect and no other. */
  readonly effect: readonly ParkedEffect[]
}

/** What the call found at a path, and what it would leave there. */
export interface ParkedEffect {
  readonly path: string
  readonly before: Version
  readonly after: Version
}

/** Where calls wait for their approval. What it throws refuses the call, or its resumption. */
export interface ParkedCalls {
  /** The absolute physical path where they are kept, which must lie outside of what the workspace reaches. */
  readonly directory?: string
  /** Keeps a call until it is answered. Plain data. */
  put(call: ParkedCall): void | Promise<void>
  /** Gives a call out and forgets it, in one step: nobody may get it twice. */
  take(id: string): ParkedCall | undefined | Promise<ParkedCall | undefined>
}

/** Keeps parked calls in memory, the latest thousand. */
export function memoryParking(): ParkedCalls {
  const calls = new Map<string, ParkedCall>()
  return {
    put(call) {
      addBounded(calls, call.id, call)
    },
    take(id) {
      const call = calls.get(id)
      calls.delete(id)
      return call
    },
  }
}

/** Notes something of a call that waits; of more than a thousand, the oldest is let go. */
export function addBounded<T>(waiting: Map<string, T>, id: string, value: T): void {
  waiting.set(id, value)
  if (waiting.size > MAX_WAITING) waiting.delete(waiting.keys().next().value as string)
}

const MAX_WAITING = 1000
