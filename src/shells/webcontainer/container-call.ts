import { ToolError } from '../../errors.ts'
import { withTimeout } from '../../util/timers.ts'

/** How long a container may take to answer, in milliseconds: its promises never settle when its frame is gone. */
const PATIENCE_MS = 60_000

/**
 * What the container answers.
 *
 * @throws ToolError `SHELL_UNAVAILABLE` where it refuses, or does not answer
 */
export async function containerCall<T>(what: string, promise: Promise<T>, patienceMs = PATIENCE_MS): Promise<T> {
  try {
    return await withTimeout(promise, patienceMs, () => failed(what, `no answer within ${patienceMs} ms`))
  } catch (error) {
    throw error instanceof ToolError ? error : failed(what, plain(error))
  }
}

function failed(what: string, why: string): ToolError {
  return new ToolError('SHELL_UNAVAILABLE', `The container could not ${what}: ${why}`)
}

/** The first line of what it says: the rest is its own affair. */
function plain(error: unknown): string {
  return messageOf(error)?.replace(/\n.*/s, '').slice(0, 200) ?? 'it failed'
}

/** What an error says; whatever a container's client throws may be none, or nothing at all. */
export function messageOf(error: unknown): string | undefined {
  const message = (error as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message : undefined
}
