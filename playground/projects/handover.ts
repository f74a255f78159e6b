import type { ByteStore } from './types.ts'

/** Local storage is synchronous, so it still works while a page goes away. */
const prefixOf = (projectId: string): string => `wardspace-handover ${projectId} `

/**
 * Wraps the store of a project so that a page that goes away hands over what it is still saving to the next page. What does
 * not fit into local storage has the state of its last complete save.
 */
export function withHandover(store: ByteStore, projectId: string): ByteStore {
  const keyOf = (name: string): string => prefixOf(projectId) + name
  /** The values that are being saved, by name. */
  const saving = new Map<string, unknown>()

  async function save(name: string, value: unknown): Promise<void> {
    saving.set(name, value)
    try {
      await store.save(name, value)
      if (saving.get(name) === value) attempt(() => localStorage.removeItem(keyOf(name)))
    } finally {
      if (saving.get(name) === value) saving.delete(name)
    }
  }

  return {
    ...store,
    save,
    async load<T>(name: string) {
      const text = attempt(() => localStorage.getItem(keyOf(name))) ?? undefined
      return text === undefined ? store.load<T>(name) : (JSON.parse(text) as T)
    },
    handOver() {
      for (const [name, value] of saving) attempt(() => localStorage.setItem(keyOf(name), JSON.stringify(value)))
    },
  }
}

/** Forgets what was handed over for a project. */
export function forgetHandover(projectId: string): void {
  attempt(() => {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(prefixOf(projectId))) localStorage.removeItem(key)
    }
  })
}

/** Local storage may be missing, forbidden or full. */
function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
