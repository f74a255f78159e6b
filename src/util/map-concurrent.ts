/**
 * Runs an action for each item, at most `limit` at a time. After a failure no further action starts; the first failure
 * is thrown once all running actions have ended.
 */
export async function mapConcurrent<T>(
  items: readonly T[],
  action: (item: T, index: number) => Promise<void>,
  limit = 16,
): Promise<void> {
  let next = 0
  let failure: { readonly error: unknown } | undefined
  const work = async () => {
    while (next < items.length && failure === undefined) {
      const index = next++
      try {
        await action(items[index] as T, index)
      } catch (error) {
        failure ??= { error }
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work))
  if (failure !== undefined) throw (failure as { readonly error: unknown }).error
}
