import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { Checkpoint, WorkspaceHistory } from 'wardspace'
import type { HistoryPoint } from './types.ts'

/** The points that the slider can go to: after each change, and those that the person named. */
export interface Points {
  readonly all: ReadonlySignal<readonly HistoryPoint[]>
  readonly position: ReadonlySignal<string | undefined>
  /** A point was made, and the files are as it says. */
  made(checkpoint: Checkpoint, named: boolean): void
  /** The files were brought to a point. */
  moved(id: string): void
  /** The files are of no point any more. */
  left(): void
}

/** What is kept of the points beside the history itself. */
export interface SavedPoints {
  readonly named: readonly string[]
  readonly position: string | undefined
}

export function createPoints(history?: WorkspaceHistory, kept?: SavedPoints): Points & { keep(): SavedPoints } {
  const named = new Set(kept?.named)
  const first = history?.first ?? 0
  const all = signal<readonly HistoryPoint[]>(
    // What lies before the oldest call that is remembered cannot be gone to any more.
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
