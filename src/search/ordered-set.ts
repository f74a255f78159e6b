/** A set of numbers below a bound that keeps insertion order and is cleared in constant time. */
export class OrderedSet {
  size = 0
  /** Only the first `size` are members. */
  readonly items: Uint16Array
  /** Index of each member in `items`; arbitrary for other numbers. */
  private readonly indices: Uint16Array

  /** `bound` is at most 65,536. */
  constructor(bound: number) {
    this.items = new Uint16Array(bound)
    this.indices = new Uint16Array(bound)
  }

  has(item: number): boolean {
    const index = this.indices[item] as number
    return index < this.size && this.items[index] === item
  }

  /** Adds a number that is not in the set. */
  add(item: number): void {
    this.indices[item] = this.size
    this.items[this.size++] = item
  }

  clear(): void {
    this.size = 0
  }
}
