import { type ErrorDetails, ToolError } from '../errors.ts'
import { checkArgument, isAbortSignal } from './check-options.ts'

/**
 * Throws if the caller has cancelled.
 *
 * @throws ToolError `ABORTED`
 */
export function throwIfAborted(
  signal: AbortSignal | undefined,
  message = 'Cannot commit: the call was cancelled',
  details?: ErrorDetails,
): void {
  if (signal !== undefined && typeof signal?.aborted !== 'boolean') {
    checkArgument('throwIfAborted()', 'signal', signal, isAbortSignal)
  }
  if (signal?.aborted) throw new ToolError('ABORTED', message, details)
}

/** Returns a signal that aborts as soon as one of these does. */
export function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal {
  const existing = signals.filter((signal) => signal !== undefined)
  // Next's edge runtime does not have it.
  if (typeof AbortSignal.any === 'function') return AbortSignal.any(existing)
  const any = new AbortController()
  for (const signal of existing) {
    const abort = (): void => any.abort(signal.reason)
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort, { once: true, signal: any.signal })
  }
  return any.signal
}
