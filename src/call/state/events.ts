import { checkArgument, isFunction } from '../../util/check-options.ts'
import { ignoreRejection } from '../../util/ignore-rejection.ts'

/** An event for programs that show a workspace. Plain data, except for `cause`. */
export type WorkspaceEvent =
  | {
      /** Files changed: by a call, or by others as reported with `notifyExternalChange`. */
      readonly type: 'changed'
      /** Canonical paths. `undefined` if any file may have changed. */
      readonly paths: readonly string[] | undefined
      /** Whether paths were created or deleted, so that listings change. */
      readonly listing: boolean
      /** The run and the call, if a call made the change. */
      readonly runId?: string
      readonly callId?: string
    }
  | {
      /** An exception, such as a bug of an own tool, ended a call. Adapters do not pass on its failure with the `cause`. */
      readonly type: 'exception'
      readonly runId: string
      readonly callId: string
      /** The tool or operation of the workspace. */
      readonly tool: string
      /** The exception. Its text can hold physical paths: do not show it to a model. */
      readonly cause: unknown
    }
  /** Plan mode has ended, for one run or for all; see their `mode`. */
  | { readonly type: 'mode' }

/** Called with each event after it happened. Errors that it throws are ignored. */
export type WorkspaceListener = (event: WorkspaceEvent) => void

/** The event listeners of a workspace. */
export interface WorkspaceEvents {
  /** Registers a listener; returns a function that unregisters it. */
  subscribe(listener: WorkspaceListener): () => void
  emit(event: WorkspaceEvent): void
}

/** Creates the listener list. A listener that throws affects neither the other listeners nor the call. */
export function createEvents(): WorkspaceEvents {
  const listeners = new Set<{ readonly listener: WorkspaceListener }>()
  return {
    subscribe(listener) {
      checkArgument('subscribe()', 'listener', listener, isFunction)
      const entry = { listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    emit(event) {
      for (const { listener } of [...listeners]) {
        try {
          ignoreRejection(listener(event))
        } catch {
          // The event has happened already.
        }
      }
    },
  }
}
