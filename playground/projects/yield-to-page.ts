/** How long the page may be kept from anything else, in milliseconds: a third of what a person notices. */
const MAX_MS = 12

/**
 * Makes a function to be awaited now and then within something long: it lets the page do what waits, such as drawing and
 * answering keys, if it could not for a while.
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

/** Ends the present task. Timers would make each pause a wait of some milliseconds. */
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
