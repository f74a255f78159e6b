/** Runs actions one after another, in the order of the calls. A failed action does not stop the next one. */
export interface SerialQueue {
  /** Settles as the action does. */
  next<T>(action: () => Promise<T>): Promise<T>
}

/** Creates an empty queue. */
export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  return {
    next(action) {
      const current = last.then(action)
      last = current.catch(() => {})
      return current
    },
  }
}
