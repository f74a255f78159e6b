import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Checkpoint, WorkspaceHistory } from 'wardspace'
import type { HistoryPoint } from './types.ts'

/** The states that the slider can restore: one after each change, and those that the person named. */
export interface Points {
  readonly all: ReadonlySignal<readonly HistoryPoint[]>
  readonly position: ReadonlySignal<string | undefined>
  /** Adds a point for the current files. */
  made(checkpoint: Checkpoint, named: boolean): void
  /** Records that the files were restored to a point. */
  moved(id: string): void
  /** Records that the files no longer match a point. */
  left(): void
}

/** The data of the points that is saved beside the history. */
export interface SavedPoints {
  readonly named: readonly string[]
  readonly position: string | undefined
}

export function createPoints(history?: WorkspaceHistory, kept?: SavedPoints): Points & { keep(): SavedPoints } {
  const named = new Set(kept?.named)
  const first = history?.first ?? 0
  const all = signal<readonly HistoryPoint[]>(
    // States before the oldest call in the history cannot be restored.
    (history?.checkpoints ?? []).filter(({ mark }) => mark >= first).map((one) => pointOf(one, named.has(one.id))),
  )
  const position = signal(kept?.position)
  return {
    all,
    position: computed(() => position.value),
    made(checkpoint, isNamed) {
      if (isNamed) named.add(checkpoint.id)
      all.value = [...all.value, pointOf(checkpoint, isNamed)]
      position.value = checkpoint.id
    },
    moved(id) {
      position.value = id
    },
    left() {
      position.value = undefined
    },
    keep: () => ({ named: [...named], position: position.value }),
  }
}

function pointOf({ id, at, label }: Checkpoint, named: boolean): HistoryPoint {
  return { id, at, label: label ?? id, named }
}
