import type { Failure } from '../../errors.ts'
import type { DialectRun, DialectWorkspace, Workspace, WorkspaceRun } from '../../workspace/create-workspace.ts'
import { refusal } from './protocol-errors.ts'

/** A run, whatever its tools are called. */
export type ServedRun = WorkspaceRun | DialectRun

/** What a server serves at one moment. */
export interface Served {
  readonly workspace: Workspace | DialectWorkspace
  /** The run that the client's calls belong to. */
  readonly run: ServedRun
}

/** Where nothing is served, why. */
export type ServedOrReason = Served | { readonly failure: Failure }

/** What is served, which may become another workspace: never in the middle of a call. */
export interface ServedState {
  /** Does something with what is served now. What comes next waits until that has ended, and this for what is on its way. */
  use<R>(act: (serves: ServedOrReason) => R | Promise<R>): Promise<R>
  /** Serves what `open` gives, which is asked for once all that is under way has ended. It must not fail. */
  replace(open: () => Promise<ServedOrReason>): Promise<void>
}

/** Serves one thing after the other. */
export function createServedState(
  first: ServedOrReason,
  changed: (serves: ServedOrReason) => Promise<void>,
): ServedState {
  let current = first
  let underWay = 0
  let idle = () => {}
  let replacing: Promise<void> = Promise.resolve()
  let waiting = 0

  async function replaceNow(open: () => Promise<ServedOrReason>): Promise<void> {
    if (underWay > 0) {
      await new Promise<void>((resolve) => {
        idle = resolve
      })
    }
    current = await open()
    await changed(current)
  }

  return {
    async use(act) {
      while (waiting > 0) await replacing
      underWay += 1
      try {
        return await act(current)
      } finally {
        underWay -= 1
        if (underWay === 0) idle()
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
 * What is served, for requests whose results cannot say that nothing is.
 *
 * @throws an error of the protocol
 */
export function served(serves: ServedOrReason): Served {
  if ('failure' in serves) throw refusal(serves.failure)
  return serves
}

/** The calls of the workspace's own tools: what is no tool call stands on these, in every dialect. */
export function ownCalls(run: ServedRun): Pick<WorkspaceRun, 'call'> {
  return 'own' in run ? run.own : run
}

/** Whether the workspace has a tool of its own by that name. */
export async function hasTool(run: ServedRun, name: string): Promise<boolean> {
  const explained = await run.explain(name, {})
  return explained.ok || !missing.has(explained.code)
}

const missing: ReadonlySet<Failure['code']> = new Set(['UNKNOWN_TOOL', 'READ_ONLY', 'SHELL_UNAVAILABLE'])

/** A client that is gone need not be told. */
export function ignoreClosed(sending: Promise<void>): void {
  sending.catch(() => {})
}
