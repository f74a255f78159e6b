import type { CallOptions, Failure, Success, WorkspaceRun } from 'wardspace'
import type { ApprovalQueue } from './approvals.ts'
import type { Timeline } from './timeline.ts'
import type { Actor, TimelineEntry } from './types.ts'

/** Calls a tool. */
export type Call = (tool: string, input: unknown, options?: CallOptions) => Promise<Success | Failure>

/** Where a logged call is recorded. */
export interface LogParts {
  readonly timeline: Timeline
  readonly approvals: ApprovalQueue
  readonly now: () => number
}

/** Wraps a run so that each call has an entry in the timeline and asks the person for approvals. */
export function logged(
  run: () => Pick<WorkspaceRun, 'callTool'>,
  actor: Exclude<Actor, 'person'>,
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
          approve: approvals.asker(key, actor, (waits) =>
            timeline.update(key, { state: waits ? 'waiting' : 'running' }),
          ),
        }),
    )
}

/** Records one action and its result in the timeline. */
export async function log(
  { timeline, now }: Pick<LogParts, 'timeline' | 'now'>,
  action: Pick<TimelineEntry, 'actor' | 'tool' | 'input' | 'step'>,
  act: (key: string) => Promise<Success | Failure>,
): Promise<Success | Failure> {
  const at = now()
  const key = timeline.begin({ ...action, at })
  const result = await act(key)
  timeline.update(key, { state: 'done', durationMs: now() - at, result })
  return result
}
