/** What was put in last, as far as it fits: what would be too much lets the oldest go. */
export interface LruCache<K, V> {
  get(key: K): V | undefined
  /** Takes the place of what the key held. */
  put(key: K, value: V): void
}

/** Empty at first. The sizes of all that it holds come to `most` at the most; a value must keep its size. */
export function createLruCache<K, V extends object>(most: number, sizeOf: (value: V) => number): LruCache<K, V> {
  const kept = new Map<K, V>()
  let held = 0

  function remove(key: K): void {
    const value = kept.get(key)
    if (value === undefined) return
    kept.delete(key)
    held -= sizeOf(value)
  }

  return {
    get: (key) => kept.get(key),
    put(key, value) {
      remove(key)
      kept.set(key, value)
      held += sizeOf(value)
      for (const oldest of kept.keys()) {
        if (held <= most) break
        remove(oldest)
      }
    },
  }
}
