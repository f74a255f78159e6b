/** Does the same with each, several at a time; all have ended when it has. Throws the first failure. */
export async function mapConcurrent<T>(items: readonly T[], action: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  let failure: { readonly error: unknown } | undefined
  const work = async () => {
    while (next < items.length && failure === undefined) {
      const item = items[next++] as T
      await action(item).catch((error) => {
        failure ??= { error }
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work))
  if (failure !== undefined) throw (failure as { readonly error: unknown }).error
}

const AT_ONCE = 16
