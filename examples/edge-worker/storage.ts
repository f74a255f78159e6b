import type { AuditRecord, AuditSink, ParkedCall, ParkedCalls } from 'wardspace'
import type { DurableStorage } from 'wardspace/backends/durable-object'

/** Stores pending approvals in the tables of the object, so that they survive a restart. */
export function parkedCalls({ sql }: DurableStorage): ParkedCalls & { all(): ParkedCall[] } {
  sql.exec('CREATE TABLE IF NOT EXISTS parked_calls (id TEXT PRIMARY KEY, data TEXT NOT NULL)')
  const parse = (rows: Record<string, unknown>[]) => rows.map(({ data }) => JSON.parse(String(data)) as ParkedCall)
  return {
    put: (call) => void sql.exec('INSERT INTO parked_calls VALUES (?, ?)', call.id, JSON.stringify(call)),
    // One statement, so that no call is returned twice.
    take: (id) => parse(sql.exec('DELETE FROM parked_calls WHERE id = ? RETURNING data', id).toArray())[0],
    all: () => parse(sql.exec('SELECT data FROM parked_calls ORDER BY rowid').toArray()),
  }
}

/** Stores the audit in the tables of the object. */
export function auditLog({ sql }: DurableStorage): AuditSink {
  sql.exec('CREATE TABLE IF NOT EXISTS audit (sequence INTEGER PRIMARY KEY, data TEXT NOT NULL)')
  const parse = (rows: Record<string, unknown>[]) => rows.map(({ data }) => JSON.parse(String(data)) as AuditRecord)
  const last = () => parse(sql.exec('SELECT data FROM audit ORDER BY sequence DESC LIMIT 1').toArray())[0]
  const [head] = [last()]
  return {
    append: (record) => void sql.exec('INSERT INTO audit VALUES (?, ?)', record.sequence, JSON.stringify(record)),
    ...(head === undefined ? {} : { head: () => head }),
    records: () => parse(sql.exec('SELECT data FROM audit ORDER BY sequence').toArray()),
  }
}
