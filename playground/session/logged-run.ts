import type { CallOptions, Failure, Success, WorkspaceRun } from 'wardspace'
import type { ApprovalQueue } from './approvals.ts'
import type { Timeline } from './timeline.ts'
import type { Actor, TimelineEntry } from './types.ts'

/** What calls a tool. */
export type Call = (tool: string, input: unknown, options?: CallOptions) => Promise<Success | Failure>

/** What a logged call writes to. */
export interface LogParts {
  readonly timeline: Timeline
  readonly approvals: ApprovalQueue
  readonly now: () => number
}

/**
 * A run's calls, each with its entry in the timeline. What policy asks, it asks the person, who has answered already where
 * the call is the person's own.
 */
export function logged(
  run: () => Pick<WorkspaceRun, 'callTool'>,
  actor: Actor,
  { timeline, approvals, now }: LogParts,
): Call {
  return (tool, input, options) =>
    log(
      { timeline, now },
      { actor, tool, input, ...(options?.step === undefined ? {} : { step: options.step }) },
      (key) =>
        run().callTool(tool, input, {
          ...options,
          step: `${options?.step ?? ''}#${key}`,
          approve:
            actor === 'person'
              ? () => ({ allow: 'once', by: 'person' })
              : approvals.asker(key, (waits) => timeline.update(key, { state: waits ? 'waiting' : 'running' })),
        }),
    )
}

/** Notes one act and how it ended. */
export async function log(
  { timeline, now }: Pick<LogParts, 'timeline' | 'now'>,
  what: Pick<TimelineEntry, 'actor' | 'tool' | 'input' | 'step'>,
  act: (key: string) => Promise<Success | Failure>,
): Promise<Success | Failure> {
  const at = now()
  const key = timeline.begin({ ...what, at })
  const result = await act(key)
  timeline.update(key, { state: 'done', durationMs: now() - at, result })
  return result
}
