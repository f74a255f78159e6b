/** Saves what a page still has to save when it goes away, where only synchronous storage is reliable. */
export interface Handover {
  save(value: unknown): void
  load(): unknown
  clear(): void
}

/** Returns the handover of a project from this page to the next one. */
export function handoverOf(projectId: string): Handover {
  const name = `wardspace-handover-${projectId}`
  /** Without local storage or room in it, the last regular save applies. */
  function attempt<T>(act: () => T): T | undefined {
    try {
      return act()
    } catch {
      return undefined
    }
  }
  return {
    save: (value) => attempt(() => localStorage.setItem(name, JSON.stringify(value))),
    load: () => attempt(() => JSON.parse(localStorage.getItem(name) ?? 'null') ?? undefined),
    clear: () => attempt(() => localStorage.removeItem(name)),
  }
}
