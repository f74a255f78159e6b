import { effect, type ReadonlySignal, signal } from '@preact/signals'
import type { SessionProject } from './types.ts'

/** How long changes are gathered before they are saved, in milliseconds. */
const WAIT = 300

/** Saves what is kept beside a project, shortly after it changes. */
export interface Autosave {
  /** Saves what `make` gives whenever one of `sources` has changed. */
  follow(name: string, sources: readonly ReadonlySignal<unknown>[], make: () => unknown): void
  /** Why something could not be saved; undefined while all is. */
  readonly trouble: ReadonlySignal<string | undefined>
  /** Saves at once what still waits. */
  flush(): Promise<void>
  /** Saves what still waits and follows nothing any more. */
  close(): Promise<void>
}

/** A autosave; one that is not `enabled` saves nothing, as where another tab writes. */
export function createAutosave({ kept }: Pick<SessionProject, 'kept'>, enabled: boolean): Autosave {
  const waiting = new Map<string, () => unknown>()
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
    async close() {
      for (const end of ends) end()
      await flush()
    },
  }
}
