import type { AuditRecord } from '../audit/audit-log.ts'
import type { Success } from '../call/state/call.ts'
import type { Failure } from '../errors.ts'
import { checkArgument, isListOf, isObjectValue, refuseSurplus } from '../util/check-options.ts'
import { type Controller, ControllerState } from './controller.ts'

/** One call in the timeline. Plain data, so that it can be saved. */
export interface TimelineEntry {
  readonly key: string
  /** Who made the call, such as `agent` or `person`. */
  readonly actor: string
  readonly tool: string
  readonly input: unknown
  /** The caller's id of the call. */
  readonly step?: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly state: 'running' | 'waiting' | 'done'
  readonly durationMs?: number
  /** The result exactly as the caller, such as the model, received it. */
  readonly result?: Success | Failure
  /** The audit record of the outcome or refusal. */
  readonly record?: AuditRecord
}

/** The state of a {@link Timeline}. */
export interface TimelineSnapshot {
  /** Oldest first. */
  readonly entries: readonly TimelineEntry[]
}

/** The calls of a session in the order of their start. `trackCalls` adds them. */
export interface Timeline extends Controller<TimelineSnapshot> {
  /** Adds a running call. Returns its key. */
  begin(entry: Omit<TimelineEntry, 'key' | 'state'>): string
  /** Changes fields of an entry. */
  update(key: string, change: Partial<TimelineEntry>): void
  /** Attaches an audit record to its call, which its step id names. For an audit sink. */
  take(record: AuditRecord): void
}

/** Maximum number of entries. Older calls remain in the audit only. */
const MAX_ENTRIES = 2000

/**
 * Creates a timeline that continues saved entries. Calls that were running at the time are marked done without a result.
 *
 * @example
 * const timeline = createTimeline()
 * const workspace = await createWorkspace({
 *   backend: memory({ 'a.txt': 'one\n' }),
 *   policy: 'readOnly',
 *   audit: callbackSink(timeline.take),
 * })
 * const run = trackCalls(workspace, { timeline })
 * await run.call('read_file', { path: 'a.txt' })
 * console.log(timeline.snapshot.entries[0]?.tool)
 */
export function createTimeline(saved: readonly TimelineEntry[] = []): Timeline {
  refuseSurplus('createTimeline()', 1, arguments)
  checkArgument('createTimeline()', 'saved', saved, isListOf(isObjectValue))
  const state = new ControllerState<TimelineSnapshot>({
    entries: saved.map((entry) => (entry.state === 'done' ? entry : { ...entry, state: 'done' as const })),
  })
  let count = saved.reduce((last, { key }) => Math.max(last, Number(key)), 0)

  function update(key: string, change: Partial<TimelineEntry>): void {
    const { entries } = state.snapshot
    const at = entries.findLastIndex((entry) => entry.key === key)
    const entry = entries[at]
    if (entry === undefined) return
    state.update({ entries: [...entries.slice(0, at), { ...entry, ...change }, ...entries.slice(at + 1)] })
  }

  return {
    get snapshot() {
      return state.snapshot
    },
    subscribe: state.subscribe,
    update,
    begin(entry) {
      count += 1
      const key = String(count)
      const { entries } = state.snapshot
      state.update({ entries: [...entries.slice(-MAX_ENTRIES + 1), { ...entry, key, state: 'running' }] })
      return key
    },
    take(record) {
      const key = record.stepId?.split('#')[1]
      if (key !== undefined && record.phase !== 'intent') update(key, { record })
    },
  }
}
