import { type ErrorCode, ToolError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { anySignal, onAbort, throwIfAborted } from '../util/abort.ts'

/** Time that a call has to end by itself when its caller has cancelled it or its time is over, in milliseconds. */
const GRACE_MS = 500

const CANCELLED = ' was cancelled'

/** The tools with the field `timeoutMs`, and what their limits are called by. */
const limitedTools: Readonly<Record<string, 'search' | 'command'>> = { search_text: 'search', run_command: 'command' }

/**
 * The wait for a call until its commit begins. It ends soon after the caller cancels or the time of the call is over, whatever
 * the storage does. A step that does not end goes on without effect.
 */
export interface CallWait {
  /** Aborts with the signal of the caller, and when the time of the call is over. */
  readonly signal: AbortSignal | undefined
  /** @throws ToolError `ABORTED` */
  requireNotCancelled(): void
  /** Settles as the work does, or rejects when the wait ends. */
  until<T>(work: Promise<T>): Promise<T>
  /** Limits the time of the call from now on, if its tool has the field `timeoutMs`. */
  limit(tool: string, timeoutMs: unknown, limits: Limits): void
  /** Ends the limit on the time. @throws ToolError `ABORTED` */
  stopTimer(): void
  /** Runs a step that has a time limit of its own, or none. The time of the call begins again afterwards. */
  untimed<T>(step: () => Promise<T>): Promise<T>
  /** Ends the timers, so that nothing ends the call any more. */
  close(): void
}

/** The wait for a call that nothing can end. */
export const ENDLESS_WAIT: CallWait = Object.freeze({
  signal: undefined,
  requireNotCancelled() {},
  until: (work) => work,
  limit() {},
  stopTimer() {},
  untimed: (step) => step(),
  close() {},
} satisfies CallWait)

/**
 * Opens the wait for a call of a tool.
 *
 * @param name the name of the call in messages
 */
export function openWait(name: string, tool: string, caller: AbortSignal | undefined): CallWait {
  return caller === undefined && limitedTools[tool] === undefined ? ENDLESS_WAIT : openLimitedWait(name, caller)
}

function openLimitedWait(name: string, signal: AbortSignal | undefined): CallWait {
  let timer: ReturnType<typeof setTimeout> | undefined
  let startTimer = () => {}
  let end!: (error: ToolError) => void
  const ended = new Promise<never>((_, reject) => {
    end = reject
  })
  const endIn = (ms: number, code: ErrorCode, problem: string, late?: AbortController) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      end(new ToolError(code, name + problem))
      late?.abort()
    }, ms + GRACE_MS)
  }
  const cancel = () => {
    startTimer = () => {}
    endIn(0, 'ABORTED', CANCELLED)
  }
  ended.catch(() => {})
  const stopListening = signal && onAbort(signal, cancel)

  const wait: { -readonly [K in keyof CallWait]: CallWait[K] } = {
    signal,
    requireNotCancelled: () => throwIfAborted(wait.signal, name + CANCELLED),
    until: (work) => Promise.race([work, ended]),
    limit(tool, timeoutMs, limits) {
      const kind = limitedTools[tool]
      if (kind === undefined || wait.signal?.aborted) return
      const ms = Math.min(Number(timeoutMs ?? limits[`${kind}TimeoutMs`]), limits[`${kind}TimeoutMsHard`])
      const late = new AbortController()
      wait.signal = anySignal(signal, late.signal)
      const code = `${kind.toUpperCase() as Uppercase<typeof kind>}_TIMEOUT` as const
      startTimer = () => endIn(ms, code, ` took longer than ${ms} ms`, late)
      startTimer()
    },
    stopTimer() {
      wait.requireNotCancelled()
      clearTimeout(timer)
    },
    async untimed(step) {
      wait.stopTimer()
      try {
        return await step()
      } finally {
        startTimer()
      }
    },
    close() {
      clearTimeout(timer)
      stopListening?.()
    },
  }
  return wait
}
