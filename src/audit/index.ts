/** The audit: records and their chain, sinks, the check of a chain, and reports of runs. */

export type { JournalChange } from '../history/journal.ts'
export {
  type AuditCheck,
  type AuditEntry,
  type AuditedPush,
  type AuditRecord,
  type AuditSink,
  type ChainHead,
  HIDDEN_VERSION,
  shaMap,
  verifyAudit,
} from './audit-log.ts'
export { type DiffTotals, type ReportedRecord, type RunReport, reportRuns, type WrittenFile } from './report.ts'
export { reportMarkdown } from './report-text.ts'
export { callbackSink, type MemorySink, memorySink } from './sinks.ts'
export { type SpanLike, spanSink, type TracerLike } from './span-sink.ts'
export type { VerifyOptions } from './verify.ts'
