/** Sets a value for a pending call. Above 1,000 entries, the oldest is removed. */
export function setBounded<T>(entries: Map<string, T>, id: string, value: T): void {
  entries.set(id, value)
  if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value as string)
}

const MAX_ENTRIES = 1000
