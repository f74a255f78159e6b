import { ToolError } from '../../errors.ts'
import { pauseWithJitter } from '../../util/timers.ts'
import type { ObjectStore } from './store.ts'

const MAX_TRIES = 4
const FIRST_PAUSE_MS = 20
const MAX_PAUSE_MS = 1000

/** Waits longer with each try, with jitter to separate concurrent writers. */
export function pause(tries: number): Promise<void> {
  return pauseWithJitter(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries))
}

/**
 * Returns the store with retries of all calls that are safe to repeat. Throws only `ToolError`, because messages of a store
 * contain keys and addresses. A conditional put is not repeated, because the first one may have succeeded.
 */
export function withRetries(store: ObjectStore): ObjectStore {
  return {
    get: (key, options) => retry(() => store.get(key, options)),
    put: (key, bytes, condition) =>
      condition === undefined ? retry(() => store.put(key, bytes)) : store.put(key, bytes, condition),
    delete: (keys) => retry(() => store.delete(keys)),
    list: (prefix, cursor) => retry(() => store.list(prefix, cursor)),
  }
}

async function retry<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (error instanceof ToolError) throw error
      if (tries === MAX_TRIES) throw new ToolError('BACKEND_ERROR', 'The object store failed repeatedly')
      await pause(tries)
    }
  }
}
