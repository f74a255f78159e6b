import { checkArgument, isFunction, refuseSurplus } from '../util/check-options.ts'
import type { AuditSink } from './audit-log.ts'
import { type AuditEntry, type AuditRecord, chain, emptyChain } from './record.ts'

/** A sink that keeps its records in memory. */
export interface MemorySink extends AuditSink {
  /** Returns all records so far, as a chain. */
  records(): readonly AuditRecord[]
}

/**
 * Keeps records in memory without limit, for tests and short runs. Hashes are computed when the records are first read, so
 * that calls do not wait for them.
 */
export function memorySink(): MemorySink {
  refuseSurplus('memorySink()', 0, arguments)
  const entries: AuditEntry[] = []
  const records: AuditRecord[] = []

  function chained(): readonly AuditRecord[] {
    for (const entry of entries.slice(records.length)) records.push(chain(entry, records.at(-1) ?? emptyChain))
    return records.slice()
  }

  return {
    accept: (entry) => {
      entries.push(entry)
    },
    append: ({ previousHash: _previous, hash: _hash, sequence: _sequence, ...record }) => {
      entries.push({ ...record, timestamp: Date.parse(record.timestamp) })
    },
    records: chained,
  }
}

/** Passes every record to a function. If it throws or rejects, mutations are blocked. */
export function callbackSink(append: (record: AuditRecord) => void | Promise<void>): AuditSink {
  refuseSurplus('callbackSink()', 1, arguments)
  checkArgument('callbackSink()', 'append', append, isFunction)
  return { append }
}
