import { yieldToEventLoop } from 'wardspace/backend'

/** Milliseconds that a long operation may block the page: a third of what a person notices. */
const MAX_MS = 12

/**
 * Creates a function to await repeatedly during a long operation. It lets the page draw and handle input once the
 * operation has blocked it for too long.
 */
export function createYield(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < MAX_MS) return undefined
    return yieldToEventLoop().then(() => {
      since = performance.now()
    })
  }
}
