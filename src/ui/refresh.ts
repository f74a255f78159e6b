/** Returns a function that runs `load`, and once more if it is called during a run. The promise covers both. */
export function createRefresh(load: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  let isOutdated = false
  const run = async (): Promise<void> => {
    do {
      isOutdated = false
      await load()
    } while (isOutdated)
  }
  return () => {
    if (running === undefined) {
      running = run().finally(() => {
        running = undefined
      })
    } else isOutdated = true
    return running
  }
}
