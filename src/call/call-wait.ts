import type { Tool } from '../tools/define-tool.ts'
import type { TaintTracker } from './state/taint-tracker.ts'
import type { WorkspaceState } from './state/workspace-state.ts'

/**
 * The wait for a call until its commit begins. It ends soon after the caller cancels or the time of the call is over, whatever
 * the storage does. A step that does not end goes on without effect.
 */
export interface CallWait {
  /** Aborts with the signal of the caller, and when the time of the call is over. */
  readonly signal: AbortSignal | undefined
  /** @throws ToolError `ABORTED` */
  requireNotCancelled(): void
  /** Like {@link CallWait.until}, for the steps before the effect, some of which must end before the call does. */
  untilPrepared<T>(work: Promise<T>): Promise<T>
  /** Settles as the work does, or rejects when the wait ends. */
  until<T>(work: Promise<T>): Promise<T>
  /** Limits the time of the call from now on, if its tool has the field `timeoutMs`. */
  limit(workspace: WorkspaceState, tool: Tool, timeoutMs: unknown): void
  /** Ends the limit on the time. @throws ToolError `ABORTED` */
  stopTimer(): void
  /** Runs a step that has a time limit of its own, or none. The time of the call begins again afterwards. */
  untimed<T>(step: () => Promise<T>): Promise<T>
  /** Ends the timers, so that nothing ends the call any more, and the labels of the call when its steps have ended. */
  close(taint: Pick<TaintTracker, 'endCall'>, steps: Promise<unknown> | undefined): void
}

/** The wait for a call that nothing can end. */
export const ENDLESS_WAIT: CallWait = Object.freeze({
  signal: undefined,
  requireNotCancelled() {},
  untilPrepared: (work) => work,
  until: (work) => work,
  limit() {},
  stopTimer() {},
  untimed: (step) => step(),
  close: (taint) => taint.endCall(),
} satisfies CallWait)

/** The tools with the field `timeoutMs`, and what their limits are called by. */
export const limitedTools: Readonly<Record<string, 'search' | 'command'>> = {
  search_text: 'search',
  run_command: 'command',
}

/** Returns whether something can end a call of a tool, which then has a wait of its own. */
export const isEndable = (tool: string, caller: AbortSignal | undefined): boolean =>
  caller !== undefined || limitedTools[tool] !== undefined
