import { yieldToEventLoop } from './timers.ts'

/** Longest time without a turn of the event loop, in milliseconds. */
const TURN_MS = 25

/** Returns a function to call between the steps of a long operation: it yields to the event loop every 25 ms. */
export function createPacer(): () => Promise<void> {
  let turnedAt = performance.now()
  return async () => {
    if (performance.now() - turnedAt < TURN_MS) return
    await yieldToEventLoop()
    turnedAt = performance.now()
  }
}
