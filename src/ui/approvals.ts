import type { ApprovalAnswer, ApprovalRequest, ApproveHandler } from '../policy/approval.ts'
import { checkOptions, isFunction, refuseSurplus } from '../util/check-options.ts'
import { type Controller, ControllerState } from './controller.ts'

/** A call that waits for the person's answer. */
export interface PendingApproval {
  readonly request: ApprovalRequest
  /** Who made the call. */
  readonly actor: string
  /** Key of the waiting call in the timeline, if it has one. */
  readonly entry?: string | undefined
  /** Milliseconds since 1970. */
  readonly since: number
  /** Answers the request. Only the first answer counts. */
  answer(answer: ApprovalAnswer): void
}

/** An answer to later requests of the same task that are like one that the person approved. */
export interface ApprovalPattern {
  readonly actor: string
  readonly tool: string
  /** The paths, as the person confirmed them. */
  readonly paths: string
  /** Returns whether the pattern answers a request. */
  covers(request: ApprovalRequest): boolean
}

/** The state of {@link Approvals}. */
export interface ApprovalsSnapshot {
  /** Oldest first. */
  readonly pending: readonly PendingApproval[]
  readonly patterns: readonly ApprovalPattern[]
}

/** The call that a request belongs to. */
export interface ApprovalCall {
  readonly actor?: string
  readonly entry?: string
  /** Called with true when the call begins to wait, and with false after the answer. */
  readonly onWait?: (waits: boolean) => void
}

/** The approvals that wait for the person's answer. */
export interface Approvals extends Controller<ApprovalsSnapshot> {
  /** The `approve` option of a workspace, a run or a call. It asks the person, and answers what a pattern covers. */
  readonly approve: ApproveHandler
  /** Returns a handler like {@link Approvals.approve} for one call. */
  approveFor(call: ApprovalCall): ApproveHandler
  /** Approves pending and later requests that the pattern covers. */
  addPattern(pattern: ApprovalPattern): void
  /** Ends one pattern, or all: at the end of a task, and when the policy changes. */
  endPatterns(pattern?: ApprovalPattern): void
}

/** Options of {@link createApprovals}. */
export interface ApprovalsOptions {
  /** Milliseconds since 1970. `Date.now` by default. */
  readonly now?: () => number
}

/**
 * Creates the approvals of a page.
 *
 * @example
 * const approvals = createApprovals()
 * const workspace = await createWorkspace({
 *   backend: memory({ 'a.txt': 'one\n' }),
 *   policy: 'supervised',
 *   approve: approvals.approve,
 * })
 * approvals.subscribe(({ pending }) => pending[0]?.answer({ allow: 'once', by: 'person' }))
 * await workspace.call('delete_file', { path: 'a.txt' })
 */
export function createApprovals(options?: ApprovalsOptions): Approvals {
  refuseSurplus('createApprovals()', 1, arguments)
  const { now = Date.now } = checkOptions<ApprovalsOptions>('createApprovals()', options, { now: isFunction })
  const state = new ControllerState<ApprovalsSnapshot>({ pending: [], patterns: [] })
  const approveFor: Approvals['approveFor'] =
    ({ actor = 'agent', entry, onWait }) =>
    (request, { signal }) =>
      new Promise<ApprovalAnswer>((resolve) => {
        const pattern = state.snapshot.patterns.find((one) => one.actor === actor && one.covers(request))
        if (pattern !== undefined) return resolve(answerOf(pattern))
        const stopped = () => question.answer({ deny: 'The call was stopped' })
        const question: PendingApproval = {
          request,
          actor,
          entry,
          since: now(),
          answer(approval) {
            const { pending } = state.snapshot
            if (!pending.includes(question)) return
            signal?.removeEventListener('abort', stopped)
            state.update({ pending: pending.filter((one) => one !== question) })
            onWait?.(false)
            resolve(approval)
          },
        }
        // An aborted call no longer needs an answer.
        signal?.addEventListener('abort', stopped, { once: true })
        onWait?.(true)
        state.update({ pending: [...state.snapshot.pending, question] })
      })
  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    approve: approveFor({}),
    approveFor,
    addPattern(pattern) {
      state.update({ patterns: [...state.snapshot.patterns, pattern] })
      for (const question of state.snapshot.pending) {
        if (question.actor === pattern.actor && pattern.covers(question.request)) question.answer(answerOf(pattern))
      }
    },
    endPatterns(pattern) {
      state.update({
        patterns: pattern === undefined ? [] : state.snapshot.patterns.filter((one) => one !== pattern),
      })
    },
  }
}

function answerOf({ paths }: ApprovalPattern): ApprovalAnswer {
  return { allow: 'once', by: `person, for ${paths}` }
}
