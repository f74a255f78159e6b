import type { AuditRecord, AuditSink, ParkedCall, ParkedCalls } from 'wardspace'
import type { DurableStorage } from 'wardspace/backends/durable-object'

/** Calls that wait for a person, in the object's own tables: they are there after a restart. */
export function parkedCalls({ sql }: DurableStorage): ParkedCalls & { all(): ParkedCall[] } {
  sql.exec('CREATE TABLE IF NOT EXISTS parked_calls (id TEXT PRIMARY KEY, data TEXT NOT NULL)')
  const parse = (rows: Record<string, unknown>[]) => rows.map(({ data }) => JSON.parse(String(data)) as ParkedCall)
  return {
    put: (call) => void sql.exec('INSERT INTO parked_calls VALUES (?, ?)', call.id, JSON.stringify(call)),
    // One statement, so that no call is given out twice.
    take: (id) => parse(sql.exec('DELETE FROM parked_calls WHERE id = ? RETURNING data', id).toArray())[0],
    all: () => parse(sql.exec('SELECT data FROM parked_calls ORDER BY rowid').toArray()),
  }
}

/** The audit in the object's own tables. */
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
