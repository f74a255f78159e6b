import type { CallOptions, Success } from '../call/state/call.ts'
import type { Failure } from '../errors.ts'
import { checkArgument, checkOptions, isFunction, isObjectWith, isText, refuseSurplus } from '../util/check-options.ts'
import type { WorkspaceRun } from '../workspace/types.ts'
import type { Approvals } from './approvals.ts'
import type { Timeline, TimelineEntry } from './timeline.ts'

/** Calls a tool. */
export type Call = (tool: string, input: unknown, options?: CallOptions) => Promise<Success | Failure>

/** Options of {@link trackCalls}. */
export interface TrackOptions {
  readonly timeline: Timeline
  /**
   * Asks the person for the approvals of the calls, each shown with its call, if the workspace has no `approve` handler. A framework
   * with `approvals: 'framework'` is then not asked about them.
   */
  readonly approvals?: Approvals
  /** Who makes the calls. `agent` by default. */
  readonly actor?: string
  /** Milliseconds since 1970. `Date.now` by default. */
  readonly now?: () => number
}

/**
 * Returns the run with its calls in a timeline. A call takes the same steps as without it: nothing goes around the guard.
 *
 * @example
 * const timeline = createTimeline()
 * const approvals = createApprovals()
 * const workspace = await createWorkspace({ backend: memory(), policy: 'supervised', audit: callbackSink(timeline.take) })
 * const agent = trackCalls(workspace.run(), { timeline, approvals })
 */
export function trackCalls<Run extends Pick<WorkspaceRun, 'callTool'>>(run: Run, options: TrackOptions): Run {
  refuseSurplus('trackCalls()', 2, arguments)
  checkArgument('trackCalls()', 'run', run, isRun)
  const call = { value: trackedCall('trackCalls()', () => run, options), enumerable: true }
  return Object.create(run, { call, callTool: call })
}

const isRun = isObjectWith('a run', 'callTool')
const optionChecks = {
  timeline: isObjectWith('a timeline', 'begin', 'update'),
  approvals: isObjectWith('approvals', 'approveFor'),
  actor: isText,
  now: isFunction,
}

/** Returns the calls of a run, which may be another one at each call, in a timeline. */
export function createTrackedCall(run: () => Pick<WorkspaceRun, 'callTool'>, options: TrackOptions): Call {
  refuseSurplus('createTrackedCall()', 2, arguments)
  checkArgument('createTrackedCall()', 'run', run, isFunction)
  return trackedCall('createTrackedCall()', run, options)
}

function trackedCall(owner: string, run: () => Pick<WorkspaceRun, 'callTool'>, options: TrackOptions): Call {
  const {
    timeline,
    approvals,
    actor = 'agent',
    now = Date.now,
  } = checkOptions<TrackOptions>(owner, options, optionChecks, 'timeline')
  return (tool, input, callOptions) => {
    const { step } = callOptions ?? {}
    return trackAction({ timeline, now }, { actor, tool, input, ...(step === undefined ? {} : { step }) }, (key) => {
      const onWait = (waits: boolean) => timeline.update(key, { state: waits ? 'waiting' : 'running' })
      return run().callTool(tool, input, {
        ...callOptions,
        step: `${step ?? ''}#${key}`,
        ...(approvals === undefined ? {} : { approve: approvals.approveFor({ entry: key, actor, onWait }) }),
      })
    })
  }
}

/** Records one action and its result in a timeline. An action that throws is recorded as done without a result. */
export async function trackAction(
  options: Pick<TrackOptions, 'timeline' | 'now'>,
  action: Pick<TimelineEntry, 'actor' | 'tool' | 'input' | 'step'>,
  act: (key: string) => Promise<Success | Failure>,
): Promise<Success | Failure> {
  refuseSurplus('trackAction()', 3, arguments)
  const { timeline, now = Date.now } = Object(options) as TrackOptions
  optionChecks.timeline(timeline, 'timeline', 'trackAction()')
  const at = now()
  const key = timeline.begin({ ...action, at })
  let result: Success | Failure | undefined
  try {
    result = await act(key)
    return result
  } finally {
    timeline.update(key, { state: 'done', durationMs: now() - at, ...(result === undefined ? {} : { result }) })
  }
}
