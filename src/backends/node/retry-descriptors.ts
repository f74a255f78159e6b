import { setTimeout as sleep } from 'node:timers/promises'
import { errnoOf } from '../../storage/storage-error.ts'

/** How long to wait for other files to be closed, in milliseconds. */
const PATIENCE_MS = 30_000

/**
 * Runs an action that opens files. While the process or the machine has no file descriptor left, waits and runs it again,
 * so that many calls at once queue instead of failing. `action` must leave nothing open when it throws.
 */
export async function retryOnDescriptorLimit<T>(action: () => T | Promise<T>): Promise<T> {
  const deadline = Date.now() + PATIENCE_MS
  for (let attempt = 0; ; attempt++) {
    try {
      return await action()
    } catch (error) {
      if (!isOutOfDescriptors(error) || Date.now() > deadline) throw error
      await sleep(Math.min(50, 1 + attempt) * (0.5 + Math.random()))
    }
  }
}

/** Returns whether an error says that no more files can be opened at the moment. */
export function isOutOfDescriptors(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'EMFILE' || code === 'ENFILE'
}
