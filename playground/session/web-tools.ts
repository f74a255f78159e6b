import { batch, effect, type ReadonlySignal, signal } from '@preact/signals'
import type { Workspace, WorkspaceRun } from 'wardspace'
import type { Call } from 'wardspace/ui'

/** The tools of a project, offered to the browser's own agent. */
export interface WebTools {
  readonly isOffered: ReadonlySignal<boolean>
  /** Reason why offering failed; undefined otherwise. */
  readonly trouble: ReadonlySignal<string | undefined>
  offer(on: boolean): void
  end(): void
}

/**
 * Offers the tools of the current workspace until `end` is called. Each workspace gets its own run.
 *
 * @param callsOf wraps a run so that its calls appear in the timeline
 */
export function createWebTools(
  workspace: ReadonlySignal<Workspace>,
  callsOf: (run: Pick<WorkspaceRun, 'callTool'>) => Call,
): WebTools {
  const isOffered = signal(false)
  const trouble = signal<string | undefined>(undefined)
  const end = effect(() => {
    if (!isOffered.value) return undefined
    const open = workspace.value
    const stop = new AbortController()
    const run = { callTool: callsOf(open.run({ actor: 'WebMCP' })) }
    void import('wardspace/webmcp')
      .then(({ registerWebTools }) => registerWebTools(open, { signal: stop.signal, run }))
      .catch((error: unknown) => {
        if (stop.signal.aborted) return
        batch(() => {
          trouble.value = error instanceof Error ? error.message : String(error)
          isOffered.value = false
        })
      })
    return () => stop.abort()
  })
  return {
    isOffered,
    trouble,
    offer: (on) =>
      batch(() => {
        trouble.value = undefined
        isOffered.value = on
      }),
    end,
  }
}
