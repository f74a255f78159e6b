/** A first-in, first-out queue. Waiting takers receive the items in the order in which they asked. */
export interface Queue<T> {
  put(item: T): void
  take(): Promise<T>
}

export function createQueue<T>(): Queue<T> {
  const items: T[] = []
  const takers: ((item: T) => void)[] = []
  return {
    put(item) {
      const taker = takers.shift()
      if (taker === undefined) items.push(item)
      else taker(item)
    },
    take: () => new Promise((resolve) => (items.length > 0 ? resolve(items.shift() as T) : takers.push(resolve))),
  }
}
