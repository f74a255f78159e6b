/** Returns a function that runs `work`, never twice at a time. Calls during a run cause one more, which they wait for. */
export function oneAtATime(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let isRequested = false
  const run = async (): Promise<void> => {
    try {
      do {
        isRequested = false
        await work()
      } while (isRequested)
    } finally {
      running = undefined
    }
  }
  return () => {
    isRequested = true
    running ??= run()
    return running
  }
}
