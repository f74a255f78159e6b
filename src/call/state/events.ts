/** Something that whoever shows a workspace wants to know at once. Plain data. */
export type WorkspaceEvent =
  | {
      /** Files were changed: by any call, and by others as far as somebody told. */
      readonly type: 'changed'
      /** By their canonical names; `undefined` where they are too many to be named. */
      readonly paths: readonly string[] | undefined
      /** Whether any of them came or went, so that listings are others now. */
      readonly listing: boolean
      /** Of a call. */
      readonly runId?: string
      readonly callId?: string
    }
  /** Plan mode has ended, for a run or for all: look at their `mode`. */
  | { readonly type: 'mode' }

/** Told of each event after it happened. What it throws is not heard. */
export type WorkspaceListener = (event: WorkspaceEvent) => void

/** Those who are told of what happens in a workspace. */
export interface WorkspaceEvents {
  /** Tells `listener` from now on, until what this gives is called. */
  subscribe(listener: WorkspaceListener): () => void
  emit(event: WorkspaceEvent): void
}

/** A listener that throws takes nothing from the others, nor from the call that it is told of. */
export function createEvents(): WorkspaceEvents {
  const listeners = new Set<{ readonly listener: WorkspaceListener }>()
  return {
    subscribe(listener) {
      const entry = { listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    emit(event) {
      for (const { listener } of [...listeners]) {
        try {
          listener(event)
        } catch {
          // What was done stands.
        }
      }
    },
  }
}
