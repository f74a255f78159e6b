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
    return pause().then(() => {
      since = performance.now()
    })
  }
}

/** Resolves in a new task. A timer would delay each pause by several milliseconds. */
function pause(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}
