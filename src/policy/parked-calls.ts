import type { Version } from '../storage/backend.ts'
import { setBounded } from '../util/set-bounded.ts'
import type { ApprovalRequest } from './approval.ts'
import type { DialectCall } from './dialect-call.ts'
import type { TaintOrigin } from './taint.ts'

/**
 * A call that waits for an approval: plain data, which can be stored as JSON and resumed in another process. It contains the
 * unredacted input of the call: store it where the files themselves could be stored.
 */
export interface ParkedCall {
  /** The `approvalId` of its `APPROVAL_REQUIRED`. */
  readonly id: string
  readonly runId: string
  readonly actor: string
  readonly tool: string
  /** The names of the dialect tool that made the call. */
  readonly dialectTools?: readonly string[]
  /** The input fields of the dialect tool that rules match. */
  readonly dialectArgs?: DialectCall['args']
  readonly input: unknown
  /** Milliseconds since 1970. */
  readonly at: number
  /** The time at which the call started, so that the resumed call uses the same time. */
  readonly began?: number
  /** The time from which answers are ignored. */
  readonly expiresAt: number
  /** The approval request: the verdict with its rules, the accesses, the preview. */
  readonly request: ApprovalRequest
  /** The content that gave the run its highest label. A resumed call is judged with at least that label. */
  readonly taint?: TaintOrigin
  /** The effect of the call. An approval covers this effect and no other. */
  readonly effect: readonly ParkedEffect[]
}

/** The versions of a path before and after the call. */
export interface ParkedEffect {
  readonly path: string
  readonly before: Version
  readonly after: Version
}

/** A store for calls that wait for an approval. An exception refuses the call, or its resumption. */
export interface ParkedCalls {
  /** The absolute physical path of the store, which must be outside of the workspace. */
  readonly directory?: string
  /** Stores a call until it is answered. */
  put(call: ParkedCall): void | Promise<void>
  /** Returns a call and removes it, atomically: no call may be returned twice. */
  take(id: string): ParkedCall | undefined | Promise<ParkedCall | undefined>
}

/** Stores pending calls in memory, at most the latest 1,000. */
export function memoryParking(): ParkedCalls {
  const calls = new Map<string, ParkedCall>()
  return {
    put(call) {
      setBounded(calls, call.id, call)
    },
    take(id) {
      const call = calls.get(id)
      calls.delete(id)
      return call
    },
  }
}
