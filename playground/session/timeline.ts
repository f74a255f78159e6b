import { type ReadonlySignal, signal } from '@preact/signals'
import type { AuditRecord } from 'wardspace'
import type { TimelineEntry } from './types.ts'

/** The calls of a session, in the order in which they began. */
export interface Timeline {
  readonly entries: ReadonlySignal<readonly TimelineEntry[]>
  begin(entry: Omit<TimelineEntry, 'key' | 'state'>): string
  update(key: string, change: Partial<TimelineEntry>): void
  /** Puts a record of the audit to the call that it is of, by its step. */
  take(record: AuditRecord): void
}

/** Older calls stay in the audit only. */
const MAX_ENTRIES = 2000

/** A timeline that begins with what was kept. What was under way then has no end that anyone could know. */
export function createTimeline(kept: readonly TimelineEntry[] = []): Timeline {
  const entries = signal<readonly TimelineEntry[]>(
    kept.map((entry) => (entry.state === 'done' ? entry : { ...entry, state: 'done' as const })),
  )
  let count = kept.reduce((most, { key }) => Math.max(most, Number(key)), 0)

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
