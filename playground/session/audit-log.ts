import { type ReadonlySignal, signal } from '@preact/signals'
import type { AuditRecord, AuditSink } from 'wardspace'

/** The audit's chain of a project: it goes on over every workspace that is opened over the same files. */
export interface AuditLog {
  readonly sink: AuditSink
  readonly records: ReadonlySignal<readonly AuditRecord[]>
  /** Told of every record when it is there. */
  onRecord(listener: (record: AuditRecord) => void): void
}

/** An audit log that begins with what was kept. */
export function createAuditLog(kept: readonly AuditRecord[] = []): AuditLog {
  const all = [...kept]
  const records = signal<readonly AuditRecord[]>(all.slice())
  const listeners = new Set<(record: AuditRecord) => void>()
  let told = true

  function tell(): void {
    if (!told) return
    told = false
    // Calls come in bursts: one look at the list for all of them.
    queueMicrotask(() => {
      told = true
      records.value = all.slice()
    })
  }

  return {
    records,
    sink: {
      append(record) {
        all.push(record)
        tell()
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
