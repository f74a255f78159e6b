import { effect, type ReadonlySignal, signal } from '@preact/signals'
import type { SessionProject } from './types.ts'

/** Milliseconds that changes are collected before they are saved. */
const WAIT = 300

/** Saves the data stored beside a project shortly after it changes. */
export interface Autosave {
  /** Saves the result of `make` whenever one of `sources` changes. */
  follow(name: string, sources: readonly ReadonlySignal<unknown>[], make: () => unknown): void
  /** Reason of the last failed save; undefined after a successful one. */
  readonly trouble: ReadonlySignal<string | undefined>
  /** Saves pending changes immediately. */
  flush(): Promise<void>
  /** Saves the present state of all that is followed in another place. */
  copyTo(other: SessionProject['kept']): Promise<void>
  /** Saves pending changes and stops following the sources. */
  close(): Promise<void>
}

/** Creates an autosave. It saves nothing unless `enabled`, as when another tab writes the project. */
export function createAutosave({ kept }: Pick<SessionProject, 'kept'>, enabled: boolean): Autosave {
  const waiting = new Map<string, () => unknown>()
  const followed = new Map<string, () => unknown>()
  const ends: (() => void)[] = []
  const trouble = signal<string | undefined>(undefined)
  let timer: ReturnType<typeof setTimeout> | undefined

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const due = [...waiting]
    waiting.clear()
    try {
      await Promise.all(due.map(([name, make]) => kept.save(name, make())))
      if (due.length > 0) trouble.value = undefined
    } catch (error) {
      trouble.value = error instanceof Error ? error.message : String(error)
    }
  }

  return {
    trouble,
    flush,
    follow(name, sources, make) {
      if (!enabled) return
      followed.set(name, make)
      let first = true
      ends.push(
        effect(() => {
          for (const source of sources) source.value
          if (!first) {
            waiting.set(name, make)
            timer ??= setTimeout(() => void flush(), WAIT)
          }
          first = false
        }),
      )
    },
    async copyTo(other) {
      await Promise.all([...followed].map(([name, make]) => other.save(name, make())))
    },
    async close() {
      for (const end of ends) end()
      await flush()
    },
  }
}
