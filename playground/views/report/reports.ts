import type { AuditRecord, RunReport } from 'wardspace/audit'
import { reportsOf } from '../../session/run-summary.ts'

/** The report of a run; by default that of the last run of the agent. */
export function chosenReport(records: readonly AuditRecord[], runId: string | undefined): RunReport | undefined {
  const reports = reportsOf(records)
  const last = reports.findLast(({ actor }) => actor === 'agent') ?? reports.at(-1)
  return reports.find((report) => report.runId === runId) ?? last
}
