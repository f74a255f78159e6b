import { ToolError } from '../../errors.ts'
import { withTimeout } from '../../util/timers.ts'

/** Time limit of a call to the container, in milliseconds. Its promises never settle when its frame is gone. */
const TIMEOUT_MS = 60_000

/**
 * Waits for a promise of the container. `action` completes the error message: "The container could not …".
 *
 * @throws ToolError `SHELL_UNAVAILABLE` if the promise rejects or does not settle in time
 */
export async function containerCall<T>(action: string, promise: Promise<T>, timeoutMs = TIMEOUT_MS): Promise<T> {
  try {
    return await withTimeout(promise, timeoutMs, () => failed(action, `no answer within ${timeoutMs} ms`))
  } catch (error) {
    throw error instanceof ToolError ? error : failed(action, firstLine(error))
  }
}

function failed(action: string, reason: string): ToolError {
  return new ToolError('SHELL_UNAVAILABLE', `The container could not ${action}: ${reason}`)
}

/** Returns the first line of an error message, without the stack that may follow. */
function firstLine(error: unknown): string {
  return messageOf(error)?.replace(/\n.*/s, '').slice(0, 200) ?? 'it failed'
}

/** Returns the message of a thrown value, if it has one. The client may throw values that are not errors. */
export function messageOf(error: unknown): string | undefined {
  const message = (error as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message : undefined
}
