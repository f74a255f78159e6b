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
