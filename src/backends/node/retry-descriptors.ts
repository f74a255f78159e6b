import { setTimeout as sleep } from 'node:timers/promises'
import { errnoOf } from '../../storage/storage-error.ts'

/** How long one waits for other files to be closed, in milliseconds. */
const PATIENCE_MS = 30_000

/**
 * Runs something that opens files; while the process or the machine has no file descriptor left, it waits and runs it
 * again, so that many calls at once queue instead of failing. `action` must leave nothing open when it throws.
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

/** Whether an error says that no more files can be opened just now. */
export function isOutOfDescriptors(error: unknown): boolean {
  const code = errnoOf(error)
  return code === 'EMFILE' || code === 'ENFILE'
}
