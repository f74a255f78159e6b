/** A cache of the entries stored last, with a bound on their total size. */
export interface LruCache<K, V> {
  get(key: K): V | undefined
  /** Stores a value under a key, and removes the oldest entries beyond the bound. */
  put(key: K, value: V): void
}

/** Creates a cache whose entries have a total size of at most `maxSize`. The size of a value must not change. */
export function createLruCache<K, V extends object>(maxSize: number, sizeOf: (value: V) => number): LruCache<K, V> {
  const entries = new Map<K, V>()
  // It stays at the oldest entry. A new iterator would step over all entries that are removed already.
  let oldest = entries.keys()
  let size = 0

  function remove(key: K): void {
    const value = entries.get(key)
    if (value === undefined) return
    entries.delete(key)
    size -= sizeOf(value)
  }

  return {
    get: (key) => entries.get(key),
    put(key, value) {
      remove(key)
      entries.set(key, value)
      size += sizeOf(value)
      while (size > maxSize) {
        const { value, done } = oldest.next()
        if (done) oldest = entries.keys()
        else remove(value)
      }
    },
  }
}
