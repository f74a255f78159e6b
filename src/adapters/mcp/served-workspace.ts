import type { Failure } from '../../errors.ts'
import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../../workspace/create-workspace.ts'
import { failureError } from './protocol-errors.ts'

/** A run, with or without a dialect. */
export type ServedRun = WorkspaceRun | DialectRun

/** The workspace and run that a server currently serves. */
export interface Served {
  readonly workspace: Workspace | DialectWorkspace
  /** The run that the client's calls belong to. */
  readonly run: ServedRun
}

/** The served workspace, or the failure that explains why no workspace is served. */
export type ServedOrReason = Served | { readonly failure: Failure }

/** Holds the served workspace, which is never replaced during a call. */
export interface ServedState {
  /** Runs `act` with the served workspace. Waits for pending replacements; later replacements wait for `act`. */
  use<R>(act: (served: ServedOrReason) => R | Promise<R>): Promise<R>
  /** Calls `open` when no `act` is running, and serves its result. `open` must not reject. */
  replace(open: () => Promise<ServedOrReason>): Promise<void>
}

/** Creates the state. `onChange` is called after each replacement. */
export function createServedState(
  first: ServedOrReason,
  onChange: (served: ServedOrReason) => Promise<void>,
): ServedState {
  let current = first
  let running = 0
  let idle = () => {}
  let replacing: Promise<void> = Promise.resolve()
  let waiting = 0

  async function replaceNow(open: () => Promise<ServedOrReason>): Promise<void> {
    if (running > 0) {
      await new Promise<void>((resolve) => {
        idle = resolve
      })
    }
    current = await open()
    await onChange(current)
  }

  return {
    async use(act) {
      while (waiting > 0) await replacing
      running += 1
      try {
        return await act(current)
      } finally {
        running -= 1
        if (running === 0) idle()
      }
    },
    async replace(open) {
      waiting += 1
      replacing = replacing
        .then(() => replaceNow(open))
        .finally(() => {
          waiting -= 1
        })
      await replacing
    },
  }
}

/**
 * Returns what is served, for requests whose results cannot contain a refusal.
 *
 * @throws a protocol error if nothing is served
 */
export function requireServed(served: ServedOrReason): Served {
  if ('failure' in served) throw failureError(served.failure)
  return served
}

/** Returns the calls of the workspace's own tools, which everything except tool calls uses, with any dialect. */
export function ownCalls(run: ServedRun): Pick<WorkspaceRun, 'call' | 'explain' | 'explainTool'> {
  return 'own' in run ? run.own : run
}

/** Ignores failures to notify a client that has disconnected. */
export function ignoreClosed(sending: Promise<void>): void {
  sending.catch(() => {})
}
