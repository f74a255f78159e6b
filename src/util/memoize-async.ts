/** Returns a function that calls `load` once and returns its result. After a failure, the next call loads again. */
export function memoizeAsync<T>(load: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}
