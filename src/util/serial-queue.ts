/** Lets actions happen one after the other, in the order in which they came. */
export interface Turns {
  next<T>(action: () => Promise<T>): Promise<T>
}

export function createSerialQueue(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return {
    next(action) {
      const mine = last.then(action)
      last = mine.catch(() => {})
      return mine
    },
  }
}
