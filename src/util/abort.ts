import { ToolError } from '../errors.ts'

/** Refuses to go on once the caller has cancelled. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new ToolError('ABORTED', 'Cannot commit: the call was cancelled')
}
