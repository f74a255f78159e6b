import { ToolError } from '../../errors.ts'
import type { ObjectStore } from './store.ts'

const TRIES = 4
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1000

/** A pause that grows with each try and is never the same for two writers. */
export function pause(tries: number): Promise<void> {
  const longest = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** tries)
  return new Promise((resume) => setTimeout(resume, longest * (0.5 + Math.random() / 2)))
}

/**
 * The store with every call tried again that may be repeated, and nothing thrown but `ToolError`: a store's own messages
 * hold keys and addresses. A put under a condition is not repeated here, since the first one may have happened.
 */
export function withRetries(store: ObjectStore): ObjectStore {
  return {
    get: (key, options) => again(() => store.get(key, options)),
    put: (key, bytes, condition) =>
      condition === undefined ? again(() => store.put(key, bytes)) : store.put(key, bytes, condition),
    delete: (keys) => again(() => store.delete(keys)),
    list: (prefix, cursor) => again(() => store.list(prefix, cursor)),
  }
}

async function again<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (error instanceof ToolError) throw error
      if (tries === TRIES)
        throw new ToolError('BACKEND_ERROR', 'The object store failed, and did so again when asked again')
      await pause(tries)
    }
  }
}
