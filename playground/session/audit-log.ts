import { type ReadonlySignal, signal } from '@preact/signals'
import type { AuditRecord, AuditSink } from 'wardspace'

/** The audit chain of a project. It continues across all workspaces opened over the same files. */
export interface AuditLog {
  readonly sink: AuditSink
  readonly records: ReadonlySignal<readonly AuditRecord[]>
  /** Calls the listener after each appended record. */
  onRecord(listener: (record: AuditRecord) => void): void
}

/** Creates an audit log that continues the saved records. */
export function createAuditLog(kept: readonly AuditRecord[] = []): AuditLog {
  const all = [...kept]
  const records = signal<readonly AuditRecord[]>(all.slice())
  const listeners = new Set<(record: AuditRecord) => void>()
  let isPublished = true

  function publish(): void {
    if (!isPublished) return
    isPublished = false
    // Calls come in bursts: the signal changes once per burst.
    queueMicrotask(() => {
      isPublished = true
      records.value = all.slice()
    })
  }

  return {
    records,
    sink: {
      append(record) {
        all.push(record)
        publish()
        for (const listener of listeners) listener(record)
      },
      head: () => {
        const last = all.at(-1)
        return last === undefined ? { sequence: 0, hash: '0'.repeat(64) } : { sequence: last.sequence, hash: last.hash }
      },
      records: () => all,
    },
    onRecord(listener) {
      listeners.add(listener)
    },
  }
}
