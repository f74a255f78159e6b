import { yieldToEventLoop } from './timers.ts'

/** Longest time without a turn of the event loop, in milliseconds. */
const TURN_MS = 25

/** Steps between two looks at the clock, for the accesses to a storage in memory. */
export const ACCESSES_PER_LOOK = 16

/**
 * Returns a function to call between the steps of a long operation: it yields to the event loop every 25 ms.
 *
 * @param every number of steps between two looks at the clock. Steps that are far apart must not wait for a turn each
 */
export function createPacer(every = 1): () => Promise<void> | undefined {
  let turnedAt = performance.now()
  let steps = 0
  return () => {
    steps += 1
    if (steps < every) return undefined
    steps = 0
    if (performance.now() - turnedAt < TURN_MS) return undefined
    return yieldToEventLoop().then(() => {
      turnedAt = performance.now()
    })
  }
}
