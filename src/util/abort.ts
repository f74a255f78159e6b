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

const listenersOf = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls a listener when a signal aborts, or at once if it has. Each signal gets only one listener: Node warns of many, and a caller
 * may have one signal for many calls. Returns a function that ends it.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener()
  let listeners = listenersOf.get(signal)
  if (listeners === undefined) {
    const all = new Set<() => void>()
    listeners = all
    listenersOf.set(signal, all)
    signal.addEventListener('abort', () => {
      for (const each of all) each()
    })
  }
  listeners.add(listener)
  return () => listeners.delete(listener)
}
