import { type ReadonlySignal, signal } from '@preact/signals'
import type { AuditRecord } from 'wardspace'
import type { TimelineEntry } from './types.ts'

/** The calls of a session in the order of their start. */
export interface Timeline {
  readonly entries: ReadonlySignal<readonly TimelineEntry[]>
  begin(entry: Omit<TimelineEntry, 'key' | 'state'>): string
  update(key: string, change: Partial<TimelineEntry>): void
  /** Attaches an audit record to its call, which its step id names. */
  take(record: AuditRecord): void
}

/** Maximum number of entries. Older calls remain in the audit only. */
const MAX_ENTRIES = 2000

/** Creates a timeline that continues saved entries. Calls that were running at the time are marked done without a result. */
export function createTimeline(kept: readonly TimelineEntry[] = []): Timeline {
  const entries = signal<readonly TimelineEntry[]>(
    kept.map((entry) => (entry.state === 'done' ? entry : { ...entry, state: 'done' as const })),
  )
  let count = kept.reduce((last, { key }) => Math.max(last, Number(key)), 0)

  function update(key: string, change: Partial<TimelineEntry>): void {
    const now = entries.value
    const at = now.findLastIndex((entry) => entry.key === key)
    const entry = now[at]
    if (entry === undefined) return
    entries.value = [...now.slice(0, at), { ...entry, ...change }, ...now.slice(at + 1)]
  }

  return {
    entries,
    update,
    begin(entry) {
      count += 1
      const key = String(count)
      entries.value = [...entries.value.slice(-MAX_ENTRIES + 1), { ...entry, key, state: 'running' }]
      return key
    },
    take(record) {
      const key = record.stepId?.split('#')[1]
      if (key !== undefined && record.phase !== 'intent') update(key, { record })
    },
  }
}
