/** A set of numbers below a bound that remembers the order in which they came, and is cleared at no cost. */
export interface OrderedSet {
  size: number
  readonly items: Uint16Array
  has(item: number): boolean
  add(item: number): void
  clear(): void
}

/** `bound` is at most 65,536. */
export function orderedSet(bound: number): OrderedSet {
  const items = new Uint16Array(bound)
  const places = new Uint16Array(bound)
  const set: OrderedSet = {
    size: 0,
    items,
    has: (item) => {
      const place = places[item] as number
      return place < set.size && items[place] === item
    },
    add: (item) => {
      places[item] = set.size
      items[set.size++] = item
    },
    clear: () => {
      set.size = 0
    },
  }
  return set
}
