import { type ErrorDetails, ToolError } from '../errors.ts'

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
  if (signal?.aborted) throw new ToolError('ABORTED', message, details)
}
